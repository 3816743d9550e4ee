/** Resolves the declared parameters of a saved search to the values of the caller or to their defaults. */
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject } from '../../base/json/json.ts'
import { LOOKS_LIKE, TYPES, type TypeName, isTypeName } from '../../schema/types.ts'
import type { Values } from './bind-parameters.ts'

/** Only declared parameters are used; other values of the caller are ignored. */
export function parameterValues(declared: Json | undefined, supplied: Values): Values {
  return new Map(named(declared).map(([name, parameter]) => [name, valueOf(parameter, name, supplied)]))
}

/** Values with which a search can be checked without a caller: the defaults, and otherwise one of the declared type. */
export function exampleValues(declared: Json | undefined): Values {
  return new Map(
    named(declared).map(([name, { type = 'string', defaultValue = null }]) => {
      if (defaultValue !== null) return [name, defaultValue]
      return [name, typeof type === 'string' && isTypeName(type) ? EXAMPLES[type] : null]
    }),
  )
}

const EXAMPLES: Readonly<Record<TypeName, Json>> = {
  boolean: true,
  integer: 1,
  double: 1,
  biginteger: 1,
  bigdecimal: 1,
  string: '1',
  date: '2024-01-02T03:04:05.678Z',
  binary: 'U21hbHQ=',
  uid: '1',
  any: '1',
}

export function parameterNames(declared: Json | undefined): ReadonlySet<string> {
  return new Set(named(declared).map(([name]) => name))
}

function named(declared: Json | undefined): readonly (readonly [string, JsonObject])[] {
  const parameters = isArray(declared) ? declared.filter(isObject) : []
  return parameters.flatMap((parameter) => {
    const name = typeof parameter['name'] === 'string' ? parameter['name'].trim() : ''
    return name === '' ? [] : [[name, parameter] as const]
  })
}

function valueOf(parameter: JsonObject, name: string, supplied: Values): Json {
  const type = parameter['type'] ?? 'string'
  if (typeof type !== 'string' || !isTypeName(type)) {
    const message = `the saved search declares its parameter "${name}" with an unknown type`
    throw problem('invalidType', `${message}; the types are ${Object.keys(TYPES).join(', ')}`)
  }
  const given = supplied.get(name)
  const value = given === undefined ? defaultOf(parameter, name) : given
  if (value === null) return null
  const cast = TYPES[type].cast(value)
  if (cast !== undefined) return cast
  const wrong = given === undefined ? ', and its default value in the saved search is not' : ''
  throw new ServiceError(
    'metadata:IncompatibleValue',
    `the parameter "${name}" is of type ${type}${wrong}; send ${LOOKS_LIKE[type]}`,
    { context: name },
  )
}

function defaultOf({ optional, defaultValue }: JsonObject, name: string): Json {
  if (optional !== true) throw problem('missing', `the saved search needs the parameter "${name}"`)
  if (defaultValue !== undefined && defaultValue !== null) return defaultValue
  const message = `the parameter "${name}" has no default value, so a value must be given`
  throw problem('noDefaultValue', message)
}

type Problem = 'missing' | 'noDefaultValue' | 'invalidType'

const CODE = {
  missing: 'crud:saved-search:missing',
  noDefaultValue: 'crud:saved-search:noDefaultValue',
  invalidType: 'crud:saved-search:invalidType',
} as const

function problem(kind: Problem, message: string): ServiceError {
  return new ServiceError(CODE[kind], message)
}
