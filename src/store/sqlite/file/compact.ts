/** Rewrites a database file that no process uses, so that it contains no free pages. */
import { statSync } from 'node:fs'
import { openConnection } from './connection.ts'
import { USUAL_MEMORY } from './memory.ts'

export interface Compacted {
  readonly bytesBefore: number
  readonly bytesAfter: number
}

/** Afterwards the file returns free pages by itself, whichever release created it. A crash leaves it as it was. */
export function compactFile(directory: string): Compacted {
  using connection = openConnection(directory, USUAL_MEMORY)
  const { database, file } = connection
  const sizeOf = (): number => {
    database.exec('pragma wal_checkpoint(truncate)')
    return statSync(file).size
  }
  const bytesBefore = sizeOf()
  // `openConnection` has chosen the mode; it takes effect now. The copy is on disk: it may be larger than memory.
  database.exec('pragma temp_store = file; vacuum')
  return { bytesBefore, bytesAfter: sizeOf() }
}
