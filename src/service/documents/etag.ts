/** Entity tags: the version of a document as the headers `ETag`, `If-Match` and `If-None-Match` carry it. */
import { ServiceError } from '../../base/errors.ts'
import { isDocumentVersion } from '../document-version.ts'

/** A tag may contain visible ASCII only, so other characters of an `_id` are percent-encoded. */
export function printTag(version: string): string {
  return `"${version.replaceAll(/[^\x21\x23\x24\x26-\x7e]/gu, encodeURIComponent)}"`
}

/** What a condition header lists. */
export interface Tags {
  /** Whether the header is `*`: any version. */
  readonly isAny: boolean
  /** Document versions; a tag that is none cannot match, and is left out. */
  readonly versions: readonly string[]
}

/** Undefined if the header is absent. Tags marked as weak (`W/`) count only where `countsWeak`. */
export function readTags(header: string | undefined, name: string, countsWeak: boolean): Tags | undefined {
  if (header === undefined) return undefined
  if (header.trim() === '*') return { isAny: true, versions: [] }
  if (!LIST.test(header)) {
    throw new ServiceError('crud:InvalidRequest', `"${name}" must be * or tags such as "42:1794890379395302"`)
  }
  const tags = [...header.matchAll(TAG)].filter(([, weak]) => countsWeak || weak === undefined)
  return { isAny: false, versions: tags.map(([, , tag]) => decoded(tag!)).filter(isDocumentVersion) }
}

const TAG = /(W\/)?"([^"]*)"/g
const LIST = /^\s*(?:W\/)?"[^"]*"(?:\s*,\s*(?:W\/)?"[^"]*")*\s*$/

function decoded(tag: string): string {
  try {
    return decodeURIComponent(tag)
  } catch {
    return ''
  }
}
