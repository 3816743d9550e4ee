/** The shapes of plain documents, as JSON Schema. */
import { Type } from '../../base/json/shape.ts'
import { count, document, text } from '../request/shape-parts.ts'

export const DocumentShape = Type.Object(
  {},
  { additionalProperties: true, description: 'A document; the schema of its entity says what it holds.' },
)

export const DocumentPageShape = Type.Object({
  items: Type.Array(document('A document.')),
  next: Type.Optional(text('Cursor of the next page, for `after`; absent on the last one.')),
  total: Type.Optional(count('All documents that match, if the request asks for it.')),
})
