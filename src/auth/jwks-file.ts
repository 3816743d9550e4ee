/** Public keys in a file, which is read again when it changed. */
import { readFileSync } from 'node:fs'
import { type JSONWebKeySet, createLocalJWKSet } from 'jose'
import { parseJson } from '../base/json/parse-json.ts'
import { FRESH_MS, stampOf } from './file-stamp.ts'

type KeySet = ReturnType<typeof createLocalJWKSet>

/** The keys of the file, or while it cannot be used those last read; undefined when there never were any. */
export function fileKeys(file: string, onProblem: (error: unknown) => void): () => KeySet | undefined {
  let set: KeySet | undefined
  let stamp: string | undefined
  let lookedAt = -Infinity
  let hasFailed = false
  return () => {
    const now = performance.now()
    if (now - lookedAt < FRESH_MS) return set
    lookedAt = now
    const current = stampOf(file)
    if (current === stamp) return set
    try {
      set = createLocalJWKSet(parseJson(readFileSync(file, 'utf8'), 32) as unknown as JSONWebKeySet)
      // only now, so that a file that could not be read is tried again
      stamp = current
      hasFailed = false
    } catch (error) {
      if (!hasFailed) onProblem(error)
      hasFailed = true
    }
    return set
  }
}
