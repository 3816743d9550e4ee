/** How many statements a store has open for streams, seen from outside the store. */
import { watchReaders } from '../../process/slow/watch.ts'
import { rowsOf } from '../../support/postgres.ts'
import { storeKind } from '../../support/store-kind.ts'

export interface CursorWatch extends Disposable {
  readonly open: () => Promise<number>
}

export function watchCursors(location: string): CursorWatch {
  if (storeKind() === 'postgres')
    return { open: () => transactionsOn(location), [Symbol.dispose]: () => undefined }
  const watch = watchReaders()
  return {
    open: async () => watch.asked.open - watch.asked.close,
    [Symbol.dispose]: () => watch[Symbol.dispose](),
  }
}

/** Whoever reads a table holds a lock on it until the end of the transaction. */
async function transactionsOn(url: string): Promise<number> {
  const [row] = await rowsOf(
    url,
    (schema) => `select count(distinct l.pid)::int as readers from pg_locks l
      join pg_class c on c.oid = l.relation join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = '${schema}'`,
  )
  return Number(row!['readers'])
}

/** Waits for the readers to become so many; one that waits in vain runs into the runner's time limit. */
export async function untilOpen(watch: CursorWatch, count: number): Promise<void> {
  while ((await watch.open()) !== count) await new Promise((resolve) => setTimeout(resolve, 5))
}
