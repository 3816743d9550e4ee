/** Remembers in a file how far an import by REST has come, so that it can be resumed. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { type JsonObject, isObject, member } from '../../base/json/json.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import { SourceError } from '../source-error.ts'
import type { Positions } from './rest-source.ts'
import { textMember } from '../text-member.ts'

export interface ResumeFile extends Positions {
  /** Whether an earlier run has stored something. */
  readonly isResumed: boolean
  /** To be called when everything is stored. */
  readonly remove: () => void
}

/** Without a file, nothing is remembered. `address` must be the same in each run. */
export function openResumeFile(path: string | undefined, address: string): ResumeFile {
  const positions = new Map(path === undefined ? [] : read(path, address))
  return {
    isResumed: positions.size > 0,
    of: (entity) => positions.get(entity) ?? 0,
    set(entity, position) {
      positions.set(entity, position)
      if (path === undefined) return
      // a rename is atomic, so that a killed process leaves the old file or the new one
      writeFileSync(`${path}.new`, `${JSON.stringify({ address, stored: Object.fromEntries(positions) })}\n`)
      renameSync(`${path}.new`, path)
    },
    remove() {
      if (path !== undefined) rmSync(path, { force: true })
    },
  }
}

function read(path: string, address: string): readonly (readonly [string, number])[] {
  if (!existsSync(path)) return []
  const state = parsed(path)
  const own = textMember(state, 'address')
  if (own !== address) {
    throw new SourceError('invalid', `${path} belongs to an import from ${own}; name another file`)
  }
  const stored = member(state, 'stored')
  return isObject(stored) ? Object.entries(stored).map(([entity, count]) => [entity, Number(count)]) : []
}

function parsed(path: string): JsonObject {
  try {
    const state = parseTrusted(readFileSync(path, 'utf8'))
    if (isObject(state)) return state
  } catch {
    // reported below
  }
  throw new SourceError('invalid', `${path} is not a file that --resume has written; remove it to start anew`)
}
