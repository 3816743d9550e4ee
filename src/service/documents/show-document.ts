/** Shows a document in its plain form, as the response to a request about it. */
import type { ObjectField } from '../../schema/field.ts'
import { type Reading, hasReferences, resolveReading } from '../read/resolve-request.ts'
import type { DocumentOptions, DocumentReply } from '../service.ts'
import { isPreferred, wantsNumbersAsText } from './document-parameters.ts'
import { type Returned, tagHeader } from './document-reply.ts'
import { type Request, rootOf } from './document-request.ts'
import { plainText } from './plain-form.ts'

export function formOf({ options }: Request) {
  return { hasNumbersAsText: wantsNumbersAsText(options) }
}

interface Shown {
  readonly status: number
  readonly headers?: readonly string[]
  /** The fields of the document; those of the schema when absent. */
  readonly root?: ObjectField
}

export function shown(
  request: Request,
  returned: Returned,
  { status, headers = [], root = rootOf(request) }: Shown,
): DocumentReply {
  const text = plainText(returned.text, root, formOf(request))
  return { status, text, headers: [...tagHeader(returned), ...headers, ...preferenceHeader(request.options)] }
}

export function preferenceHeader({ prefer }: DocumentOptions): readonly string[] {
  return isPreferred(prefer) ? ['Preference-Applied', 'numbers=text'] : []
}

/** The fields of the documents that a find returns. Those of joined documents are in the version that the find uses. */
export function shownRoot({ deps, target }: Request, readingOf: () => Omit<Reading, 'sort'>): ObjectField {
  const schema = deps.schemaOf(target.entity, target.version)
  if (!hasReferences(schema)) return schema.root
  const { query, projection } = readingOf()
  const resolved = resolveReading({ ...(query && { query }), projection, sort: [] }, schema, deps)
  return 'references' in resolved ? resolved.references.root : schema.root
}
