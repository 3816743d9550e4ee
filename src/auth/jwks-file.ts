/** Public keys from a file, which is read again when it changes. */
import { readFileSync } from 'node:fs'
import { type JSONWebKeySet, createLocalJWKSet } from 'jose'
import { parseJson } from '../base/json/parse-json.ts'
import { CHECK_INTERVAL_MS, fileStamp } from './file-stamp.ts'

type KeySet = ReturnType<typeof createLocalJWKSet>

/** The keys of the file; while it is unreadable, those read last; undefined if it was never readable. */
export function fileKeys(file: string, onProblem: (error: unknown) => void): () => KeySet | undefined {
  let set: KeySet | undefined
  let stamp: string | undefined
  let checkedAt = -Infinity
  let hasFailed = false
  return () => {
    const now = performance.now()
    if (now - checkedAt < CHECK_INTERVAL_MS) return set
    checkedAt = now
    const current = fileStamp(file)
    if (current === stamp) return set
    try {
      set = createLocalJWKSet(parseJson(readFileSync(file, 'utf8'), 32) as unknown as JSONWebKeySet)
      // only after success, so that an unreadable file is tried again
      stamp = current
      hasFailed = false
    } catch (error) {
      if (!hasFailed) onProblem(error)
      hasFailed = true
    }
    return set
  }
}
