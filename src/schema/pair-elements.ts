/** Which element of an array became which: by identity where one is declared, else by being the same. */
import { type Json, isObject, member } from '../base/json/json.ts'
import type { Element, Field } from './field.ts'
import { knownPart } from './known.ts'

/** For every new element the position of the old one it continues, or undefined when it is new. */
export function pairElements(
  old: readonly Json[],
  fresh: readonly Json[],
  element: Element,
  isHidden?: (field: Field) => boolean,
): readonly (number | undefined)[] {
  const pairs: (number | undefined)[] = fresh.map(() => undefined)
  const free = new Set(old.keys())
  const pairBy = (keyOf: (value: Json) => string | undefined): void => {
    // the positions of a key, the last one first, so that the first is taken from the end
    const positions = new Map<string, number[]>()
    for (const position of [...free].toReversed()) {
      const key = keyOf(old[position]!)
      const known = key === undefined ? undefined : positions.get(key)
      if (known) known.push(position)
      else if (key !== undefined) positions.set(key, [position])
    }
    for (const [i, value] of fresh.entries()) {
      const key = pairs[i] === undefined ? keyOf(value) : undefined
      const position = key === undefined ? undefined : positions.get(key)?.pop()
      if (position === undefined) continue
      pairs[i] = position
      free.delete(position)
    }
  }
  const identity = identityOf(element, isHidden)
  if (identity.length > 0) pairBy((value) => identityKey(value, identity))
  pairBy((value) => canonical(knownPart(value, element, isHidden)))
  // What is left over on both sides changed its content where it stood, in order, unless identities say otherwise.
  if (identity.length === 0) {
    const rest = [...free].values()
    for (const i of fresh.keys()) pairs[i] ??= rest.next().value
  }
  return pairs
}

/** The members that tell the elements apart. */
export function identityOf(element: Element, isHidden?: (field: Field) => boolean): readonly string[] {
  if (element.kind !== 'object') return []
  return [...element.fields.values()]
    .filter((field) => field.constraints.elementIdentity && !isHidden?.(field))
    .map(({ name }) => name)
}

function identityKey(value: Json, identity: readonly string[]): string | undefined {
  const parts = identity.map((name) => member(value, name))
  return parts.every((part) => part !== undefined && part !== null) ? JSON.stringify(parts) : undefined
}

/** The same text for equal values, whatever the order of their keys. */
function canonical(value: Json): string {
  return JSON.stringify(value, (_key, each: Json) =>
    isObject(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each,
  )
}
