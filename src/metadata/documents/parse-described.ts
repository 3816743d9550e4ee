/** Parses the members that all kinds of fields have. */
import { type JsonObject, pointer } from '../../base/json/json.ts'
import { parseFieldAccess } from './access-lists.ts'
import { textAt } from './decode.ts'
import type { FieldDocument } from './field-document.ts'

/** The position of a field, passed down during parsing. */
export interface Place {
  readonly name: string
  readonly at: string
  readonly isInArray: boolean
}

export function parseDescribed(
  document: JsonObject,
  { name, at }: Place,
): Pick<FieldDocument, 'name' | 'description' | 'access'> {
  const description = document.description ?? null
  return {
    name,
    description: description === null ? null : textAt(description, pointer(at, 'description')),
    access: parseFieldAccess(document.access, pointer(at, 'access')),
  }
}

/** Keys of all fields. */
export const COMMON_KEYS = ['type', 'description', 'access', 'constraints']
/** Keys of the fields of one kind. */
export const OWN_KEYS = {
  simple: ['valueGenerator', 'default'],
  object: ['fields'],
  array: ['items', 'default'],
  reference: ['entity', 'versionValue', 'query', 'projection', 'sort'],
} as const satisfies Record<FieldDocument['kind'], readonly string[]>
/** Booleans of fields that are filled on read; stored with the keys that have no meaning. */
export const VIRTUAL = ['resultMetadata', 'documentVersion'] as const
