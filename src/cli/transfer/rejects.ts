/** The file of records that an import rejected: one line of JSON each, with the place and the errors. */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, statSync } from 'node:fs'
import type { Json } from '../../base/json/json.ts'
import { EXIT, Exit } from '../exit.ts'
import { writeWhole } from '../write-whole.ts'

export interface Reject {
  readonly file: string
  readonly line: number
  readonly document?: Json
  readonly errors: readonly Json[]
}

export interface Rejects extends Disposable {
  readonly add: (reject: Reject) => void
  readonly bytes: () => number
}

/** How every line begins. */
const BEGIN = '{"file":'

/** The size of a file to which a new import adds its rejects; 0 if there is none. Any other file is left alone. */
export function earlierRejects(path: string): number {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    // a pipe, for instance, has no earlier content
    if (!found?.isFile() || found.size === 0) return 0
    const { size } = found
    const file = openSync(path, 'r')
    try {
      if (areLines(file, size)) return size
    } finally {
      closeSync(file)
    }
  } catch (error) {
    throw unwritable(error)
  }
  const message = `${path} exists, and is not a file of rejects of an import; name another file, or remove it`
  throw new Exit(EXIT.conflict, message)
}

/**
 * Opened by the first reject, if nothing is in it yet. What was written after the position that is resumed is written
 * again, so it is removed. `sources` are the files that are imported.
 */
export function openRejects(path: string, earlierBytes: number, sources: readonly string[]): Rejects {
  let file: number | undefined
  const opened = (): number => {
    if (file !== undefined) return file
    try {
      file = openSync(path, earlierBytes > 0 ? 'r+' : constants.O_RDWR | constants.O_CREAT)
      if (!isOwn(file, earlierBytes, sources)) throw changed(path)
      if (fstatSync(file).size > earlierBytes) ftruncateSync(file, earlierBytes)
    } catch (error) {
      throw error instanceof Exit ? error : unwritable(error)
    }
    return file
  }
  if (earlierBytes > 0) opened()
  return {
    add({ file: source, line, document, errors }) {
      const descriptor = opened()
      const text = JSON.stringify({ file: source, line, document, errors })
      writeWhole({ descriptor, name: 'the file of rejects' }, `${text}\n`, fstatSync(descriptor).size)
    },
    bytes: () => (file === undefined ? earlierBytes : fstatSync(file).size),
    [Symbol.dispose]: () => {
      if (file !== undefined) closeSync(file)
    },
  }
}

/** Whether only rejects of this import would be cut off: another file, or rejects of another import, may be there now. */
function isOwn(file: number, earlierBytes: number, sources: readonly string[]): boolean {
  const { size } = fstatSync(file)
  if (size < earlierBytes || (earlierBytes > 0 && !areLines(file, earlierBytes))) return false
  return sources.some((source) => {
    // the line may have been cut when the import was killed
    const begin = Buffer.from(`${BEGIN}${JSON.stringify(source)},`).subarray(0, size - earlierBytes)
    return hasBytes(file, begin, earlierBytes)
  })
}

function changed(path: string): Exit {
  const message = `${path} is not as this import left it; restore it, or move what was added into another file`
  return new Exit(EXIT.conflict, message)
}

/** Whether so many bytes are whole lines, the first of which is a reject. */
function areLines(file: number, bytes: number): boolean {
  return hasBytes(file, Buffer.from(BEGIN), 0) && hasBytes(file, Buffer.from('\n'), bytes - 1)
}

function hasBytes(file: number, bytes: Buffer, position: number): boolean {
  const found = Buffer.alloc(bytes.length)
  return readSync(file, found, 0, found.length, position) === bytes.length && found.equals(bytes)
}

function unwritable(error: unknown): Exit {
  return new Exit(EXIT.failed, `the file of rejects cannot be written: ${(error as Error).message}`)
}
