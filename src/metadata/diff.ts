/** The differences between two documents, as a list of changes. */
import { type Json, type JsonObject, isArray, isObject, member, sameJson } from '../base/json/json.ts'

/**
 * Each change has its path with `-` for the old value and `+` for the new one: both for a modification, one
 * for a removal or an addition. A value added or removed as a whole is one change; arrays are compared by
 * index.
 */
export function diffJson(before: Json, after: Json, path = ''): readonly JsonObject[] {
  if (sameJson(before, after)) return []
  const steps = stepsOf(before, after)
  if (!steps) return [{ [`-${path}`]: before, [`+${path}`]: after }]
  return steps.flatMap((step) => {
    const old = at(before, step)
    const now = at(after, step)
    const below = path === '' ? step : `${path}.${step}`
    if (now === undefined) return [{ [`-${below}`]: old! }]
    return old === undefined ? [{ [`+${below}`]: now }] : diffJson(old, now, below)
  })
}

/** The keys or indexes to compare below, or undefined when the values are not containers of one kind. */
function stepsOf(before: Json, after: Json): readonly string[] | undefined {
  if (isObject(before) && isObject(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])]
  if (!isArray(before) || !isArray(after)) return undefined
  return Array.from({ length: Math.max(before.length, after.length) }, (_, i) => String(i))
}

function at(value: Json, step: string): Json | undefined {
  return isArray(value) ? value[Number(step)] : member(value, step)
}
