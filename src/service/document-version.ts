/** Document versions: what a caller holds to say which state of which document they mean. */
import { createHmac } from 'node:crypto'
import { ServiceError } from '../base/errors.ts'
import type { StoredDocument } from '../plan/plan.ts'

/** What a caller may know a document by. */
interface Naming {
  /** Of which the document is: what is hidden in one entity must not be told apart, or found, by another. */
  readonly entity: string
  readonly showsId: boolean
  /** What marks are made with: one for all processes and for good, so a mark means the same to each of them. */
  readonly secret: string
}

/** `<document>:<number>`. The document is named by its `_id`, or by a mark that tells nothing where `_id` is hidden. */
export function documentVersion({ id, version }: StoredDocument, naming: Naming): string {
  return `${naming.showsId ? id : markOf(id, naming)}:${version}`
}

/** What is to be done with a document: go on, leave it alone, or tell that it changed meanwhile. */
export type Freshness = (stored: StoredDocument) => 'current' | 'unlisted' | ServiceError

/** Without a list every document is meant, in whatever state. */
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
