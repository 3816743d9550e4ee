/** Describes problems in settings, each with its path. */
import { type Json, type JsonObject, isArray, isObject } from '../../base/json/json.ts'
import { type Shape, compileShape } from '../../base/json/shape.ts'
import { suggestion } from '../../base/suggest.ts'

/** A sentence that begins with the JSON pointer of the problem; undefined when there is none. */
export function problemWith(value: Json, shape: Shape, at = ''): string | undefined {
  if (isObject(value) && isObject(shape['properties'])) return problemInside(value, shape, at)
  if (isArray(value) && isObject(shape['items'])) {
    const items = shape['items']
    const found = value.map((each, i) => problemWith(each, items, `${at}/${i}`))
    const problem = found.find((each) => each !== undefined)
    if (problem !== undefined) return problem
  }
  return compileShape(shape)(value) ? undefined : `${at === '' ? 'it' : at} must be ${expected(shape)}`
}

/** Describes the values that a shape accepts. */
export function expected(shape: Shape): string {
  if (isArray(shape['anyOf'])) return (shape['anyOf'] as readonly Shape[]).map(expected).join(' or ')
  if (isArray(shape['enum'])) return `one of ${(shape['enum'] as readonly string[]).join(', ')}`
  switch (shape['type'] as string) {
    case 'integer':
      return `a whole number from ${shape['minimum'] as number} to ${shape['maximum'] as number}`
    case 'string':
      return 'a text'
    case 'boolean':
      return 'true or false'
    case 'array':
      return `an array, each element ${expected(shape['items'] as Shape)}`
    default: {
      const names = Object.keys((shape['properties'] ?? {}) as JsonObject)
      return names.length === 1 ? `an object with the key "${names[0]}"` : 'an object'
    }
  }
}

function problemInside(value: JsonObject, shape: Shape, at: string): string | undefined {
  const known = shape['properties'] as Readonly<Record<string, Shape>>
  const others = shape['additionalProperties']
  for (const [name, member] of Object.entries(value)) {
    const place = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    const inner = Object.hasOwn(known, name) ? known[name]! : isObject(others) ? others : undefined
    if (!inner) return `there is no setting ${place}${hint(name, Object.keys(known), at)}`
    const problem = problemWith(member, inner, place)
    if (problem !== undefined) return problem
  }
  return compileShape(shape)(value) ? undefined : `${at} must be ${expected(shape)}`
}

function hint(name: string, known: readonly string[], at: string): string {
  const near = suggestion(name, known)
  if (near !== undefined) return `; did you mean ${at}/${near}?`
  return `; there are ${known.filter((each) => each !== '$schema').join(', ')}`
}
