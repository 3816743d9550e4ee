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
