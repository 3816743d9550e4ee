/** Reads single documents by their keys, for finds and for writes; the requests of one moment share a statement. */
import type { StoredDocument } from '../../../plan/plan.ts'
import type { Bounds } from '../../bounds.ts'
import { arrayText } from '../../sql/postgres-dialect.ts'
import type { Statement } from '../../sql/fragment.ts'
import { type Connections, LOOKUPS, type Row } from '../connection/connections.ts'
import { createSharing } from '../connection/sharing.ts'
import type { Table } from '../schema/catalogue.ts'
import { storedFrom } from './reads.ts'

export interface SharedReads {
  find(table: Table, id: string, bounds: Bounds): Promise<StoredDocument | undefined>
}

/** Larger documents are read and written alone: a statement must not need the memory of many large ones. */
export const MAX_SHARED_BYTES = 64 * 1024

/** The document is to be read alone: it is large, or its statement failed. */
const ALONE = 'alone' as const

type Shared = StoredDocument | typeof ALONE | undefined

/** Far more than reading by key takes. A statement that takes longer waits for a lock of the table. */
const TOGETHER: Bounds = { timeLimitMs: 500 }

export function createSharedReads(connections: Connections): SharedReads {
  const options = {
    mayRepeat: () => true,
    ...TOGETHER,
    minTimeLimitMs: TOGETHER.timeLimitMs,
    batchesSingle: true,
    maxWaiting: 10_000,
  }
  const onServer = createSharing<Table, string, Shared>({
    ...options,
    async together(table, ids) {
      // Not in the pool of the writers, which may all be waiting for each other.
      const rows = await connections.quick.query(smallDocuments(table, ids), TOGETHER)
      const found = new Map(rows.map((row) => [row[0], sharedFrom([row])] as const))
      return ids.map((id) => found.get(id))
    },
  })
  // On a cluster, each document has a statement for its own node, and a connection executes one after the other. Hence small
  // batches, on several connections.
  const onCluster = createSharing<Table, string, Shared>({
    ...options,
    maxItems: 8,
    maxUnderWay: LOOKUPS,
    async together(table, ids) {
      const distinct = [...new Set(ids)]
      const statements = distinct.map((id) => smallDocuments(table, [id]))
      const results = await connections.lookUpAll(statements, TOGETHER.timeLimitMs)
      const found = new Map(distinct.map((id, i) => [id, sharedFrom(results[i])] as const))
      return ids.map((id) => found.get(id))
    },
  })
  return {
    async find(table, id, bounds) {
      const alone = async (): Promise<StoredDocument | undefined> => {
        const [row] = await connections.query(oneDocument(table, id), bounds)
        return row && storedFrom(row)
      }
      const sharing = table.isDistributed ? onCluster : onServer
      const found = await sharing.run({ table, item: id, bounds, alone })
      return found === ALONE ? await alone() : found
    },
  }
}

function sharedFrom(rows: readonly Row[] | undefined): Shared {
  const row = rows?.[0]
  if (!row) return rows ? undefined : ALONE
  return row[2] === null ? ALONE : storedFrom(row)
}

function oneDocument({ name }: Table, id: string): Statement {
  return { text: `select id, version, doc, paths from ${name} where id = $1`, values: [id] }
}

/** The text is null where it is large. Its length is known without reading it. */
function smallDocuments({ name }: Table, ids: readonly string[]): Statement {
  const text = `case when octet_length(doc) <= ${MAX_SHARED_BYTES} then doc end`
  const columns = `select id, version, ${text}, paths from ${name}`
  if (ids.length === 1) return { text: `${columns} where id = $1`, values: [ids[0]!] }
  return { text: `${columns} where id = any($1)`, values: [arrayText([...new Set(ids)])] }
}
