/** Writes all of a text into a file: one call may write less, without an error, when the disk becomes full. */
import { writeSync } from 'node:fs'
import { EXIT, Exit } from './exit.ts'

interface OpenFile {
  readonly descriptor: number
  /** For messages. */
  readonly name: string
}

/** At the end of what was written before, or at `position`. */
export function writeWhole({ descriptor, name }: OpenFile, text: string, position?: number): void {
  const bytes = Buffer.from(text)
  try {
    for (let done = 0; done < bytes.length;) {
      const at = position === undefined ? null : position + done
      done += writeSync(descriptor, bytes, done, bytes.length - done, at)
    }
  } catch (error) {
    throw new Exit(EXIT.failed, `${name} cannot be written: ${(error as Error).message}`)
  }
}
