/** How much memory a connection may use for the pages of the database file. */
import { DEFAULT_LIMITS, type Limits } from '../../../base/limits.ts'

export type SqliteMemory = Pick<Limits, 'sqliteMapBytes' | 'sqliteCacheBytes'>

/** Of stores that are opened without a configuration. */
export const USUAL_MEMORY: SqliteMemory = DEFAULT_LIMITS

/** Threads beside the main thread read large parts of the file once, so more memory would help them little. */
export function memoryOfThread({ sqliteMapBytes, sqliteCacheBytes }: SqliteMemory): SqliteMemory {
  return {
    sqliteMapBytes: Math.floor(sqliteMapBytes / 4),
    sqliteCacheBytes: Math.floor(sqliteCacheBytes / 4),
  }
}

/** Mapped pages are not copied into the cache. Both count as resident memory, in each connection for itself. */
export function memoryPragmas({ sqliteMapBytes, sqliteCacheBytes }: SqliteMemory): string {
  const cacheKib = Math.max(MIN_CACHE_KIB, Math.floor(sqliteCacheBytes / 1024))
  return `pragma temp_store = memory; pragma mmap_size = ${sqliteMapBytes}; pragma cache_size = -${cacheKib}`
}

/** SQLite's own default. */
const MIN_CACHE_KIB = 2_000
