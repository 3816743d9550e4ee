/** A document that is being written: reading and replacing parts of it by path. */
import { type Json, type JsonObject, isArray, isObject } from '../client/json.ts'
import { memberOf } from './members.ts'

export type Path = readonly (string | number)[]

export function partAt(document: Json | undefined, path: Path): Json | undefined {
  let value = document
  for (const step of path) {
    if (typeof step === 'number') value = isArray(value) ? value[step] : undefined
    else value = isObject(value) ? memberOf(value, step) : undefined
  }
  return value
}

/** The document with another part; undefined removes a member or an element. */
export function withPart(document: Json | undefined, path: Path, part: Json | undefined): Json {
  const [step, ...rest] = path
  if (step === undefined) return part ?? null
  if (typeof step === 'number') {
    const list = isArray(document) ? document : []
    if (rest.length === 0 && part === undefined) return list.toSpliced(step, 1)
    return list.toSpliced(step, 1, withPart(list[step], rest, part))
  }
  const object: JsonObject = isObject(document) ? document : {}
  if (rest.length > 0) return { ...object, [step]: withPart(memberOf(object, step), rest, part) }
  const { [step]: _, ...others } = object
  return part === undefined ? others : { ...object, [step]: part }
}

export function printPath(path: Path): string {
  return path.join('.')
}

/** A difference between two documents, by the path of a simple value or list. */
export interface Difference {
  readonly path: string
  readonly before: Json | undefined
  readonly after: Json | undefined
}

export function differences(
  before: Json | undefined,
  after: Json | undefined,
  prefix = '',
): readonly Difference[] {
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    return names
      .filter((name) => !name.endsWith('#'))
      .flatMap((name) => {
        const path = prefix === '' ? name : `${prefix}.${name}`
        return differences(memberOf(before, name), memberOf(after, name), path)
      })
  }
  if (isArray(before) && isArray(after) && before.length === after.length) {
    return before.flatMap((each, i) => differences(each, after[i], `${prefix}.${i}`))
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path: prefix, before, after }]
}
