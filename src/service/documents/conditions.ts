/** Conditions of requests for one document: `If-Match` and `If-None-Match`. */
import { ServiceError } from '../../base/errors.ts'
import type { DocumentOptions } from '../service.ts'
import type { Returned } from './document-reply.ts'
import { type Tags, readTags } from './etag.ts'

export interface Condition {
  /** Parts of a data request. */
  readonly versions: { readonly documentVersions?: readonly string[] }
  readonly tags: Tags
  /** Whether no document can have one of the tags. */
  readonly isHopeless: boolean
}

export function conditionOf({ ifMatch }: DocumentOptions): Condition | undefined {
  const tags = readTags(ifMatch, 'If-Match', false)
  if (!tags) return undefined
  const { isAny, versions } = tags
  return {
    tags,
    versions: isAny ? {} : { documentVersions: versions },
    isHopeless: !isAny && versions.length === 0,
  }
}

export function isMet({ tags }: Condition, { version }: Returned): boolean {
  return tags.isAny || tags.versions.includes(version)
}

/** No condition is ignored: this is for writes that know none of this kind. */
export function refuseNoneMatch({ ifNoneMatch }: DocumentOptions): void {
  if (ifNoneMatch === undefined) return
  const message = 'a write knows "If-None-Match: *", which creates a document only where there is none'
  throw new ServiceError('crud:InvalidRequest', message)
}
