/** Optimistic concurrency: which documents a caller means to change, in which state. */
import { ServiceError } from '../base/errors.ts'
import type { StoredDocument } from '../plan/plan.ts'

/** What is to be done with a document: go on, leave it alone, or tell that it changed meanwhile. */
export type Currency = (stored: StoredDocument) => 'current' | 'unlisted' | ServiceError

/** Versions are `<_id>:<number>`; where `_id` is out of sight, the number alone has to do. */
export function currencyOf(documentVersions: readonly string[] | undefined): Currency {
  if (!documentVersions) return () => 'current'
  const listed = new Map<string, Set<number>>()
  for (const token of documentVersions) {
    const colon = token.lastIndexOf(':')
    const id = token.slice(0, colon)
    const versions = listed.get(id) ?? new Set()
    listed.set(id, versions.add(Number(token.slice(colon + 1))))
  }
  return ({ id, version }) => {
    if (listed.get(id)?.has(version) || listed.get('')?.has(version)) return 'current'
    if (!listed.has(id)) return 'unlisted'
    return new ServiceError(
      'store-crud:ConcurrentUpdate',
      'the document was changed since this version was read',
    )
  }
}
