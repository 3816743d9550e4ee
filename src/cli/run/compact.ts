/** `smalt compact`: rewrites the files of all SQLite datasources without their unused space. */
import { compactStore } from '../../service/compact-store.ts'
import type { Config } from '../config/config.ts'
import { EXIT, Exit } from '../exit.ts'
import { openExit } from './open-exit.ts'

export async function runCompact(
  { datasources }: Pick<Config, 'datasources'>,
  { json = false }: { readonly json?: boolean },
): Promise<void> {
  let count = 0
  for (const { name, location } of datasources) {
    const compacted = await compactStore(location).catch((error: unknown) => {
      throw openExit(error, location)
    })
    if (!compacted) continue
    count++
    const { bytesBefore, bytesAfter } = compacted
    const text = json
      ? JSON.stringify({ datasource: name, ...compacted })
      : `compacted ${name}: ${megabytes(bytesBefore)} MB to ${megabytes(bytesAfter)} MB`
    process.stdout.write(`${text}\n`)
  }
  if (count === 0)
    throw new Exit(EXIT.config, 'compact is for SQLite; PostgreSQL vacuums its tables by itself')
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}
