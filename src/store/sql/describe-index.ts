/** Indexes as texts: in the words of an explanation, and as the catalogues know them. */
import type { JsonObject } from '../../base/json/json.ts'
import type { IndexDefinition } from '../../schema/schema.ts'

export function describeIndex({ unique, fields }: IndexDefinition): JsonObject {
  return {
    unique,
    fields: fields.map(({ path, descending, caseInsensitive }) => ({
      field: path,
      dir: descending ? '$desc' : '$asc',
      caseInsensitive,
    })),
  }
}

/** The same for definitions that mean the same index, whatever else they hold. */
export function canonicalText({ unique, fields }: IndexDefinition): string {
  const plain = fields.map(({ path, type, descending, caseInsensitive, isMixed }) => ({
    path,
    type,
    descending,
    caseInsensitive,
    ...(isMixed && { isMixed }),
  }))
  return JSON.stringify({ unique, fields: plain })
}
