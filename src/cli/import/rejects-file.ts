/** The file of rejected documents: one line of JSON for each, with its errors. */
import { closeSync, fstatSync, openSync } from 'node:fs'
import type { ServiceError } from '../../base/errors.ts'
import { EXIT, Exit } from '../exit.ts'
import { writeWhole } from '../write-whole.ts'

export interface RejectsFile extends Disposable {
  /** `document` is JSON text. */
  readonly add: (entity: string, document: string, errors: readonly ServiceError[]) => void
  /** Whether the file contains any. */
  readonly hasAny: () => boolean
}

/** Every run writes the file anew, unless it resumes an earlier one. */
export function openRejectsFile(path: string, isResumed: boolean): RejectsFile {
  const file = opened(path, isResumed ? 'a' : 'w')
  return {
    add(entity, document, errors) {
      const shown = errors.map((error) => error.toObject())
      writeWhole(
        { descriptor: file, name: 'the file of rejects' },
        `{"entity":${JSON.stringify(entity)},"document":${document},"errors":${JSON.stringify(shown)}}\n`,
      )
    },
    hasAny: () => fstatSync(file).size > 0,
    [Symbol.dispose]: () => closeSync(file),
  }
}

function opened(path: string, mode: 'a' | 'w'): number {
  try {
    return openSync(path, mode)
  } catch (error) {
    throw new Exit(EXIT.failed, `the file of rejects cannot be written: ${(error as Error).message}`)
  }
}
