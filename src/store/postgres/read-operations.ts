/** The operations of the store that read documents: how each of them uses connections, and when it is repeated. */
import type { AggregatePlan } from '../../plan/aggregate.ts'
import type { ReadPlan } from '../../plan/plan.ts'
import { requestedId } from '../../plan/plan-properties.ts'
import type { Bounds } from '../bounds.ts'
import type { Database } from '../database.ts'
import type { BeginGroups, Found, OnDocument } from '../store.ts'
import type { Connections } from './connection/connections.ts'
import { FIRST_PIECE } from './connection/cursor.ts'
import { repeatingLost } from './connection/failures.ts'
import type { Pipelining } from './connection/pipelining.ts'
import { inTransaction } from './connection/transaction.ts'
import { aggregateAtOnce, aggregateByPieces, canAggregate, explainGroups } from './read/aggregate.ts'
import { findAtOnce, findByPieces, findPage, findWithin, pageOf, repeatingUntaken } from './read/find.ts'
import { readHistory } from './read/history.ts'
import { pushdownTo } from './read/pushdown.ts'
import { preparedStatements, readStatementsFor } from './read/reads.ts'
import { noteRefusal } from './read/refused.ts'
import type { SharedReads } from './read/shared-reads.ts'
import { streamOn } from './read/stream.ts'
import type { Runner } from './runner.ts'
import type { KnownTables } from './schema/table-cache.ts'
import { explainIn } from './session.ts'

interface ReadParts {
  readonly connections: Connections
  readonly reads: SharedReads
  readonly pipelining: Pipelining
  readonly tableOf: KnownTables['tableOf']
  readonly runner: Runner
  /** Known when the store has started. */
  readonly isCluster: () => boolean
}

type ReadOperation =
  | 'answers'
  | 'canJoin'
  | 'find'
  | 'stream'
  | 'readHistory'
  | 'explain'
  | 'canAggregate'
  | 'aggregate'
  | 'explainAggregate'

export function readOperations(parts: ReadParts): Pick<Database, ReadOperation> {
  const { connections, tableOf, runner, isCluster } = parts
  const { run } = runner
  return {
    answers: (query, asOf) => pushdownTo({ isDistributed: isCluster() }, asOf).answers(query),
    canJoin: () => pushdownTo({ isDistributed: isCluster() }).canJoin,
    find(plan, take, bounds) {
      const id = requestedId(plan)
      return run('find', () =>
        id === undefined
          ? noteRefusal([plan.query], () =>
              repeatingUntaken(take, (each) => find(parts, plan, { take: each, bounds })),
            )
          : findById(parts, plan, { id, take, bounds }),
      )
    },
    stream: (plan, bounds) =>
      runner.runStream(
        () =>
          streamOn(connections, {
            plan,
            tableOf: () => tableOf(plan.collection),
            withCurrentTables: runner.withCurrentTables,
            bounds,
          }),
        (first) => noteRefusal([plan.query], first),
      ),
    readHistory: (request, bounds) =>
      runner.runStream(() =>
        readHistory(request, { table: tableOf(request.collection), connections, bounds }),
      ),
    explain: (plan, bounds) =>
      run('explain', () =>
        noteRefusal([plan.query], () =>
          inTransaction(
            connections,
            (each) => explainIn(each, plan, { table: tableOf(plan.collection), bounds }),
            { bounds, isSnapshot: true },
          ),
        ),
      ),
    canAggregate: (plan) => canAggregate(plan, isCluster()),
    aggregate: (plan, begin, bounds) => run('aggregate', () => aggregate(parts, plan, { begin, bounds })),
    explainAggregate: (plan, bounds) =>
      run('explain', () =>
        inTransaction(connections, (each) => explainGroups(each, plan, tableOf(plan.collection)), {
          bounds,
          isSnapshot: true,
        }),
      ),
  }
}

async function findById(
  { connections, reads, tableOf }: ReadParts,
  plan: ReadPlan,
  { id, take, bounds }: { readonly id: string; readonly take: OnDocument; readonly bounds: Bounds },
): Promise<Found> {
  const table = tableOf(plan.collection)
  if (!table) return { matchCount: 0 }
  connections.noteCaller(bounds.caller)
  return pageOf(await repeatingLost(() => reads.find(table, id, bounds)), plan, take)
}

async function find(
  { connections, pipelining, tableOf }: ReadParts,
  plan: ReadPlan,
  { take, bounds }: { readonly take: OnDocument; readonly bounds: Bounds },
): Promise<Found> {
  const table = tableOf(plan.collection)
  if (!table) return { matchCount: 0 }
  connections.noteCaller(bounds.caller)
  const read = readStatementsFor(bounds, preparedStatements(plan, table))
  const finding = { read, take }
  // A count may take much longer than its page, so the two kinds are measured apart.
  const kind = plan.counted ? read.page.text : `${read.page.text} uncounted`
  // Never repeated: documents may have been passed on already.
  const once = { bounds, isSnapshot: true, mayRepeat: false, kind }
  if (read.residual) return await inTransaction(connections, (each) => findWithin(each, plan, finding), once)
  const { plans } = read
  const found = await pipelining.run({
    kind,
    bounds,
    plans,
    pipelined: (session): Promise<Found | undefined> => findPage(session, plan, finding),
    alone: (timed) =>
      connections.with((each) => timed(() => findAtOnce(each, plan, finding)), { bounds, kind, plans }),
  })
  if (found) return found
  // Too large to be collected in memory; nothing was passed on, so the page is read again in pieces.
  const large = { ...finding, maxRows: FIRST_PIECE }
  return await inTransaction(connections, (each) => findByPieces(each, plan, large), once)
}

async function aggregate(
  { connections, tableOf }: ReadParts,
  plan: AggregatePlan,
  { begin, bounds }: { readonly begin: BeginGroups; readonly bounds: Bounds },
): Promise<Found> {
  const aggregating = { table: tableOf(plan.collection), begin }
  // Repeating is safe, because groups are passed on last.
  const found = await repeatingLost(() =>
    connections.with((each) => aggregateAtOnce(each, plan, aggregating), { bounds, kind: 'aggregate' }),
  )
  if (found) return found
  // Too large to be collected in memory; nothing was passed on, so the page is read again in pieces.
  return await inTransaction(connections, (each) => aggregateByPieces(each, plan, aggregating), {
    bounds,
    isSnapshot: true,
    mayRepeat: false,
  })
}
