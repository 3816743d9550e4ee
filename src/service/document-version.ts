/** Document versions: what a caller holds to say which state of which document they mean. */
import { createHmac, randomBytes } from 'node:crypto'
import { ServiceError } from '../base/errors.ts'
import type { StoredDocument } from '../plan/plan.ts'

/** `<document>:<number>`. The document is named by its `_id`, or by a mark that tells nothing where `_id` is hidden. */
export function documentVersion({ id, version }: StoredDocument, showsId: boolean): string {
  return `${showsId ? id : markOf(id)}:${version}`
}

/** What is to be done with a document: go on, leave it alone, or tell that it changed meanwhile. */
export type Freshness = (stored: StoredDocument) => 'current' | 'unlisted' | ServiceError

/** Without a list every document is meant, in whatever state. */
export function freshnessBy(listed: readonly string[] | undefined, showsId: boolean): Freshness {
  if (!listed) return () => 'current'
  const versions = new Set(listed)
  const documents = new Set(listed.map(documentOf))
  return (stored) => {
    const version = documentVersion(stored, showsId)
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

/** Marks are good for the life of the process, which is longer than anybody should hold on to a version. */
const secret = randomBytes(32)

function markOf(id: string): string {
  return createHmac('sha256', secret).update(id).digest('base64url').slice(0, 22)
}
