/** Reads single documents by their keys, for finds and for writes; the requests of one moment share a statement. */
import { ServiceError } from '../../../base/errors.ts'
import type { StoredDocument } from '../../../plan/plan.ts'
import type { Bounds } from '../../bounds.ts'
import { arrayText } from '../../sql/postgres-dialect.ts'
import type { Statement } from '../../sql/fragment.ts'
import type { Connections } from '../connection/connections.ts'
import { createSharing } from '../connection/sharing.ts'
import type { Table } from '../schema/catalogue.ts'
import { storedFrom } from './reads.ts'

export interface SharedReads {
  find(table: Table, id: string, bounds: Bounds): Promise<StoredDocument | undefined>
}

/** Larger documents are read and written alone: a statement must not need the memory of many large ones. */
export const MAX_SHARED_BYTES = 64 * 1024

/** To be read alone, within the bounds of its request. */
const NOT_YET = Symbol('not yet')

type QuicklyRead = StoredDocument | typeof NOT_YET | undefined

/** Far more than reading by key takes. */
const QUICKLY: Bounds = { timeLimitMs: 500 }

export function createSharedReads(connections: Connections): SharedReads {
  const readQuickly = async (
    table: Table,
    ids: readonly string[],
    bounds = QUICKLY,
  ): Promise<readonly QuicklyRead[]> => {
    try {
      // Not in the pool of the writers, which may all be waiting for each other.
      const rows = await connections.quick.query(smallDocuments(table, ids), bounds)
      const found = new Map(rows.map((row) => [row[0], row[2] === null ? NOT_YET : storedFrom(row)] as const))
      return ids.map((id) => found.get(id))
    } catch (error) {
      if (!isTimeout(error)) throw error
      // The table is locked. Nobody else must wait for this few connections.
      return ids.map(() => NOT_YET)
    }
  }
  const sharing = createSharing<Table, string, QuicklyRead>({
    together: (table, ids) => readQuickly(table, ids),
    mayRepeat: () => false,
  })
  return {
    async find(table, id, bounds) {
      const shortest = bounds.timeLimitMs < QUICKLY.timeLimitMs ? bounds : QUICKLY
      const alone = async (): Promise<QuicklyRead> => (await readQuickly(table, [id], shortest))[0]
      // On a cluster, documents that are read together lie on several nodes.
      const found = await (table.isDistributed ? alone() : sharing.run({ table, item: id, bounds, alone }))
      if (found !== NOT_YET) return found
      const [row] = await connections.query(oneDocument(table, id), bounds)
      return row && storedFrom(row)
    },
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'store-crud:Timeout'
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
