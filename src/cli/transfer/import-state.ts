/** The file in which an import remembers how far it has come, so that a repeated command goes on from there. */
import { randomUUID } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { EXIT, Exit } from '../exit.ts'
import { earlierRejects } from './rejects.ts'
import type { SourceFile } from './source-files.ts'

/** What must be the same when the import is repeated. */
export interface ImportJob {
  readonly url: string
  readonly entity: string
  readonly version: string | undefined
  readonly upsert: boolean
  readonly batch: number
  readonly delimiter: string | undefined
  /** The file of rejects; absent as long as nothing is rejected, and in the files of earlier releases. */
  readonly rejects: string | undefined
  readonly files: readonly Pick<SourceFile, 'path' | 'format' | 'bytes' | 'modified'>[]
}

type OnError = 'stop' | 'skip'

export interface Position {
  /** Part of the key of each batch: a batch that was stored, but not acknowledged, is not stored twice. */
  readonly id: string
  /** Grows after a batch that was refused, because its key must not be used for another content. */
  readonly attempt: number
  readonly file: number
  /** Records of that file that are done. */
  readonly records: number
  readonly imported: number
  readonly rejected: number
  /** Size of the file of rejects. */
  readonly rejectsBytes: number
  /**
   * How the next batch may have been sent already, without an acknowledgement; its key is not for another content.
   * Absent after a batch that was refused.
   */
  readonly onError?: OnError | undefined
}

export interface ImportState {
  readonly position: Position
  readonly isResumed: boolean
  readonly advance: (position: Position) => void
  readonly remove: () => void
}

const START = { attempt: 0, file: 0, records: 0, imported: 0, rejected: 0 }

/** Without a path, nothing is remembered. */
export function openState(path: string | undefined, job: ImportJob, onError: OnError): ImportState {
  const earlier = path === undefined ? undefined : earlierState(path, job)
  if (earlier) refuseOtherMode(path!, earlier.position, onError)
  const begin = earlier?.position ?? { id: randomUUID(), ...START }
  const position = { ...begin, rejectsBytes: rejectsBytesOf(earlier, job), onError }
  if (path === undefined)
    return { position, isResumed: false, advance: () => undefined, remove: () => undefined }
  const advance = (next: Position): void => replaceFile(path, `${JSON.stringify({ job, position: next })}\n`)
  advance(position)
  return {
    position,
    isResumed: earlier !== undefined,
    advance,
    remove: () => rmSync(path, { force: true }),
  }
}

interface SavedState {
  readonly job: ImportJob
  readonly position: Position
}

/** Of this import, if it has begun with its file of rejects, and otherwise of the imports that used this file before. */
function rejectsBytesOf(earlier: SavedState | undefined, { rejects }: ImportJob): number {
  if (earlier && (earlier.job.rejects !== undefined || earlier.position.rejectsBytes > 0))
    return earlier.position.rejectsBytes
  return rejects === undefined ? 0 : earlierRejects(rejects)
}

function earlierState(path: string, job: ImportJob): SavedState | undefined {
  let text
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Exit(EXIT.failed, `${path} cannot be read: ${(error as Error).message}`)
  }
  let earlier
  let other
  try {
    earlier = JSON.parse(text) as SavedState
    const saved = earlier.job
    other = NAMES.find(([name]) => JSON.stringify(saved[name]) !== JSON.stringify(job[name]))
  } catch {
    throw new Exit(EXIT.failed, `${path} is not the state of an import; remove it, or name another file`)
  }
  if (other) {
    const message = `${path} belongs to an import with ${other[1]}; repeat that one, or remove the file`
    throw new Exit(EXIT.conflict, message)
  }
  refuseOtherRejects(path, earlier.job, job)
  return earlier
}

/** An import that stopped at a failure may go on with a file of rejects. */
function refuseOtherRejects(path: string, { rejects: earlier }: ImportJob, { rejects }: ImportJob): void {
  if (earlier === undefined || rejects === undefined || earlier === rejects) return
  const message =
    `${path} belongs to an import whose rejects are in ${earlier}, not in ${rejects}; ` +
    'go on with the same --rejects, or remove the file of --resume'
  throw new Exit(EXIT.conflict, message)
}

const NAMES: readonly (readonly [member: keyof ImportJob, difference: string])[] = [
  ['files', 'other files, files that have changed since, or another --format'],
  ['url', 'another service'],
  ['entity', 'another --entity'],
  ['version', 'another --version'],
  ['upsert', 'another --upsert'],
  ['batch', 'another --batch'],
  ['delimiter', 'another --delimiter'],
]

function refuseOtherMode(path: string, { onError: earlier }: Position, onError: OnError): void {
  if (earlier === undefined || earlier === onError) return
  const message =
    `the import of ${path} was interrupted with --on-error ${earlier}, and a batch may have been stored so; ` +
    'go on with the same --on-error, or remove the file'
  throw new Exit(EXIT.conflict, message)
}

/** Whoever reads it sees either the old or the new content, also after a crash. */
function replaceFile(path: string, text: string): void {
  const next = `${path}.next`
  try {
    writeFileSync(next, text, { flush: true })
    renameSync(next, path)
  } catch (error) {
    throw new Exit(EXIT.failed, `the position cannot be written: ${(error as Error).message}`)
  }
}
