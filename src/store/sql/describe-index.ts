/** An index in the words of an explanation. */
import type { JsonObject } from '../../base/json.ts'
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
