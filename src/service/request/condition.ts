/** Reads the condition of a write: the versions of the documents that it may change. */
import { invalidRequest } from '../../base/errors.ts'
import { asBoolean } from '../../base/json/decode.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { isDocumentVersion } from '../document-version.ts'
import { isPresent } from './envelope.ts'

export interface Condition {
  /** Absent: the write has no condition. */
  readonly documentVersions?: readonly string[]
}

/** A list of versions is a condition by itself; `onlyIfCurrent: false` lifts it. */
export function readCondition({ onlyIfCurrent, documentVersions }: JsonObject): Condition {
  const isConditional = asBoolean(onlyIfCurrent)
  if (!isPresent(documentVersions)) {
    if (isConditional !== true) return {}
    const message = '"onlyIfCurrent" needs "documentVersions", as "resultMetadata" of a find returned them'
    throw invalidRequest(message, '/onlyIfCurrent')
  }
  // the shape of the request has admitted arrays of strings only
  const listed = documentVersions as readonly string[]
  const wrong = listed.findIndex((version) => !isDocumentVersion(version))
  if (wrong !== -1) {
    const message = 'this is not a document version; one looks like "42:1794890379395302"'
    throw invalidRequest(message, `/documentVersions/${wrong}`)
  }
  return isConditional === false ? {} : { documentVersions: listed }
}
