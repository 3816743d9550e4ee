/** Detects changes of a file by its metadata, which costs far less than reading it. */
import { statSync } from 'node:fs'

/** Files are checked at most this often, so that a change takes effect well within a second. */
export const CHECK_INTERVAL_MS = 250

/** A text that changes whenever the file is replaced or written. */
export function fileStamp(file: string): string {
  try {
    const stat = statSync(file, { bigint: true })
    return `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code)
  }
}
