/** Reads single documents by their keys, for finds and for writes; the requests of one moment share a statement. */
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

const LARGE = 'large' as const

/** Far more than reading by key takes. A statement that takes longer waits for a lock of the table. */
const TOGETHER: Bounds = { timeLimitMs: 500 }

export function createSharedReads(connections: Connections): SharedReads {
  const sharing = createSharing<Table, string, StoredDocument | typeof LARGE | undefined>({
    async together(table, ids) {
      // Not in the pool of the writers, which may all be waiting for each other.
      const rows = await connections.quick.queryAll(smallDocuments(table, ids), TOGETHER)
      const found = new Map(rows.map((row) => [row[0], row[2] === null ? LARGE : storedFrom(row)] as const))
      return ids.map((id) => found.get(id))
    },
    mayRepeat: () => true,
    ...TOGETHER,
    minTimeLimitMs: TOGETHER.timeLimitMs,
    batchesSingle: true,
    maxWaiting: 10_000,
  })
  return {
    async find(table, id, bounds) {
      const alone = async (): Promise<StoredDocument | undefined> => {
        const [row] = await connections.query(oneDocument(table, id), bounds)
        return row && storedFrom(row)
      }
      const found = await sharing.run({ table, item: id, bounds, alone })
      return found === LARGE ? await alone() : found
    },
  }
}

function oneDocument({ name }: Table, id: string): Statement {
  return { text: `select id, version, doc, paths from ${name} where id = $1`, values: [id] }
}

/**
 * The text is null where it is large. Its length is known without reading it. On a cluster the documents lie on several
 * nodes: each has a statement of its own, which goes to its node only.
 */
function smallDocuments({ name, isDistributed }: Table, ids: readonly string[]): readonly Statement[] {
  const text = `case when octet_length(doc) <= ${MAX_SHARED_BYTES} then doc end`
  const columns = `select id, version, ${text}, paths from ${name}`
  const one = (id: string): Statement => ({ text: `${columns} where id = $1`, values: [id] })
  const distinct = [...new Set(ids)]
  if (isDistributed || distinct.length === 1) return distinct.map(one)
  return [{ text: `${columns} where id = any($1)`, values: [arrayText(distinct)] }]
}
