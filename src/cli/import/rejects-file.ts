/** The file of rejected documents: one line of JSON for each, with its errors. */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import type { ServiceError } from '../../base/errors.ts'
import { EXIT, Exit } from '../exit.ts'
import { writeWhole } from '../write-whole.ts'

export interface RejectsFile extends Disposable {
  /** `document` is JSON text. */
  readonly add: (entity: string, document: string, errors: readonly ServiceError[]) => void
  /** Whether the file contains any. */
  readonly hasAny: () => boolean
}

/** How every line begins. */
const BEGIN = '{"entity":'

/** Every run writes the file anew, unless it resumes an earlier one. A file with anything else in it is left alone. */
export function openRejectsFile(path: string, isResumed: boolean): RejectsFile {
  const file = opened(path, isResumed)
  return {
    add(entity, document, errors) {
      const shown = errors.map((error) => error.toObject())
      writeWhole(
        { descriptor: file, name: 'the file of rejects' },
        `${BEGIN}${JSON.stringify(entity)},"document":${document},"errors":${JSON.stringify(shown)}}\n`,
      )
    },
    hasAny: () => fstatSync(file).size > 0,
    [Symbol.dispose]: () => closeSync(file),
  }
}

function opened(path: string, isResumed: boolean): number {
  try {
    if (!hasOnlyRejects(path)) {
      const message = `${path} exists, and is not a file of rejects of an import; name another file with --rejects, or remove it`
      throw new Exit(EXIT.conflict, message)
    }
    return openSync(path, isResumed ? 'a' : 'w')
  } catch (error) {
    if (error instanceof Exit) throw error
    throw new Exit(EXIT.failed, `the file of rejects cannot be written: ${(error as Error).message}`)
  }
}

function hasOnlyRejects(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  // a pipe, for instance, has no earlier content
  if (!found?.isFile() || found.size === 0) return true
  const file = openSync(path, 'r')
  try {
    const begin = Buffer.alloc(BEGIN.length)
    readSync(file, begin)
    return begin.equals(Buffer.from(BEGIN))
  } finally {
    closeSync(file)
  }
}
