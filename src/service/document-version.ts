/** Document versions: tokens by which a caller identifies one state of one document. */
import { createHmac } from 'node:crypto'
import { ServiceError } from '../base/errors.ts'
import type { StoredDocument } from '../plan/plan.ts'

/** How a document is identified to a caller. */
interface Naming {
  /** Part of the digest, so that digests of hidden ids cannot be compared across entities. */
  readonly entity: string
  readonly showsId: boolean
  /** Key of the digest. All processes share it and it never changes, so a digest is valid in each of them. */
  readonly secret: string
}

/** `<document>:<number>`. The document is identified by its `_id`, or by an opaque digest if `_id` is hidden. */
export function documentVersion({ id, version }: StoredDocument, naming: Naming): string {
  return `${naming.showsId ? id : markOf(id, naming)}:${version}`
}

/** Whether a text has the form of a document version; the document may not exist. */
export function isDocumentVersion(text: string): boolean {
  return /:\d{1,16}$/.test(text)
}

/** How to treat a document: write it, skip it, or report that it has changed meanwhile. */
export type Freshness = (stored: StoredDocument) => 'current' | 'unlisted' | ServiceError

/** Without a list, every document is current in any state. */
export function freshnessBy(listed: readonly string[] | undefined, naming: Naming): Freshness {
  if (!listed) return () => 'current'
  const versions = new Set(listed)
  const documents = new Set(listed.map(documentOf))
  return (stored) => {
    const version = documentVersion(stored, naming)
    if (versions.has(version)) return 'current'
    if (!documents.has(documentOf(version))) return 'unlisted'
    return new ServiceError(
      'store-crud:ConcurrentUpdate',
      'the document was changed since this version was read',
    )
  }
}

function documentOf(version: string): string {
  return version.slice(0, version.lastIndexOf(':'))
}

function markOf(id: string, { entity, secret }: Naming): string {
  const named = JSON.stringify([entity, id])
  return createHmac('sha256', secret).update(named).digest('base64url').slice(0, 22)
}
