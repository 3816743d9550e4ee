/** Indexes as text: for explanations, and as stored in the catalogues. */
import type { JsonObject } from '../../base/json/json.ts'
import type { IndexDefinition } from '../../schema/schema.ts'

export function describeIndex({ kind, language, unique, fields }: IndexDefinition): JsonObject {
  if (kind === 'text') {
    return { kind, ...(language && { language }), fields: fields.map(({ path }) => ({ field: path })) }
  }
  return {
    unique,
    fields: fields.map(({ path, descending, caseInsensitive }) => ({
      field: path,
      dir: descending ? '$desc' : '$asc',
      caseInsensitive,
    })),
  }
}

/** The same text for definitions of the same index, whatever other members they have. */
export function canonicalText({ kind, language, unique, fields }: IndexDefinition): string {
  const plain = fields.map(({ path, type, descending, caseInsensitive, isMixed }) => ({
    path,
    type,
    descending,
    caseInsensitive,
    ...(isMixed && { isMixed }),
  }))
  return JSON.stringify({ ...(kind && { kind }), ...(language && { language }), unique, fields: plain })
}
