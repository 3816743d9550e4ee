/**
 * Parses a reference field: its entity, and its join in the query language, which is validated and stored
 * unchanged.
 */
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, pointer } from '../../base/json/json.ts'
import { DEFAULT_LIMITS } from '../../base/limits.ts'
import { parseProjection } from '../../lang/parse/parse-projection.ts'
import { parseQuery } from '../../lang/parse/parse-query.ts'
import { parseSort } from '../../lang/sort.ts'
import { parseConstraints } from './constraints.ts'
import { neededText, optional, otherMembers, textAt } from './decode.ts'
import type { ReferenceDocument } from './field-document.ts'
import { COMMON_KEYS, OWN_KEYS, type Place, parseDescribed } from './parse-described.ts'

export function parseReference(document: JsonObject, place: Place): ReferenceDocument {
  const { at, isInArray } = place
  const subject = { type: 'reference', isVirtual: false, isInArray, isElement: false }
  const sound = (key: string, parse: (value: Json, at: string) => unknown): Json | undefined =>
    optional(document, key, { at, read: (value, place) => checked(value, place, parse) })
  return {
    ...parseDescribed(document, place),
    kind: 'reference',
    constraints: parseConstraints(document.constraints, pointer(at, 'constraints'), subject),
    entity: neededText(document, 'entity', at),
    versionValue: optional(document, 'versionValue', { at, read: textAt }),
    query: sound('query', (value, place) => parseQuery(value, place, DEFAULT_LIMITS)),
    projection: sound('projection', parseProjection),
    sort: sound('sort', parseSort),
    properties: otherMembers(document, KEYS),
  }
}

function checked(value: Json, at: string, parse: (value: Json, at: string) => unknown): Json {
  if (value === null) return value
  try {
    parse(value, at)
    return value
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const context = at.replace(/^\/schema(?=\/)/, '').slice(1)
    throw new ServiceError('metadata:InvalidReference', error.message, { context })
  }
}

const KEYS = [...COMMON_KEYS, ...OWN_KEYS.reference]
