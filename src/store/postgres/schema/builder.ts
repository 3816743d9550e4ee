/** What the work on tables and indexes needs beside writers. */
import type { Connections } from '../connection/connections.ts'

export interface Builder {
  readonly connections: Connections
  /** The PostgreSQL schema, which names the locks. */
  readonly schema: string
  /** Reloads this process's cache of the catalogue. */
  readonly reload: () => Promise<void>
  /** Microseconds since 1970, the unit of document versions. */
  readonly now: () => number
  /** Whether tables are distributed over the nodes of a cluster. */
  readonly isCluster: () => boolean
}
