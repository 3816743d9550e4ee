/** Tells by its looks whether a file changed, which costs far less than reading it. */
import { statSync } from 'node:fs'

/** Looked at so often that a change counts well within a second, also where it is looked for only now and then. */
export const FRESH_MS = 250

/** Another one whenever the file was replaced or written to. */
export function stampOf(file: string): string {
  try {
    const stat = statSync(file, { bigint: true })
    return `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code)
  }
}
