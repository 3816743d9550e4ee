/** Copies the file of a running service as it is at one moment; writers do not wait. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, backup } from 'node:sqlite'

/** All pages in one step: with several, a write in between would make SQLite begin again. */
const ALL_PAGES = 2 ** 31 - 1
const WAIT_MS = 5_000

/** Makes a store of its own in `directory`, which must not exist. */
export async function copyStore(from: string, directory: string): Promise<void> {
  mkdirSync(directory, { mode: 0o700 })
  using source = new DatabaseSync(join(from, 'smalt.db'), { timeout: WAIT_MS })
  source.exec('pragma query_only = 1')
  await backup(source, join(directory, 'smalt.db'), { rate: ALL_PAGES })
}
