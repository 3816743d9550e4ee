/**
 * Sequences belong to the service, not to a datasource: every other store draws from the default one.
 * Otherwise entities of several datasources that name the same sequence could get the same value twice.
 */
import type { Draw, WritePlan } from '../plan/plan.ts'
import type { Sequence } from '../schema/field.ts'
import type { Bounds } from './bounds.ts'
import type { Database } from './database.ts'
import type { Store, TransactionSession } from './store.ts'
import { peekingOn } from './tables/sequences.ts'

type Home = Pick<Store, 'nextValues' | 'raiseSequence' | 'peekValues'>

export function withSequencesOf(home: Home, store: Database): Database {
  return {
    kind: store.kind,
    isShared: store.isShared,
    answers: (query, asOf) => store.answers(query, asOf),
    canJoin: () => store.canJoin(),
    description: store.description,
    find: (plan, take, bounds) => store.find(plan, take, bounds),
    stream: (plan, bounds) => store.stream(plan, bounds),
    explain: (plan, bounds) => store.explain(plan, bounds),
    canAggregate: (plan) => store.canAggregate(plan),
    aggregate: (plan, begin, bounds) => store.aggregate(plan, begin, bounds),
    explainAggregate: (plan, bounds) => store.explainAggregate(plan, bounds),
    readHistory: (request, bounds) => store.readHistory(request, bounds),
    write: (plan, begin, bounds) =>
      withSupply(home, bounds, (draw) => store.write(drawingFrom(oneOf(draw), plan), begin, bounds)),
    transact: (work, options) => {
      const from = options?.isDryRun ? { ...home, nextValues: peekingOn(home) } : home
      return withSupply(from, options?.bounds, (draw) =>
        store.transact((session) => work(sessionWith(session, draw)), options),
      )
    },
    ...(store.lendWriter && { lendWriter: () => store.lendWriter!() }),
    nextValues: (sequence, count, bounds) => home.nextValues(sequence, count, bounds),
    peekValues: (sequence, options) => home.peekValues(sequence, options),
    raiseSequence: (sequence) => home.raiseSequence(sequence),
    metadata: store.metadata,
    locks: store.locks,
    keyedAnswers: store.keyedAnswers,
    events: store.events,
    sinks: store.sinks,
    transfer: store.transfer,
    ping: () => store.ping(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}

function sessionWith(session: TransactionSession, draw: DrawMany): TransactionSession {
  return {
    kind: session.kind,
    bookkeeping: session.bookkeeping,
    answers: (query, asOf) => session.answers(query, asOf),
    canJoin: () => session.canJoin(),
    find: (plan, take, bounds) => session.find(plan, take, bounds),
    explain: (plan, bounds) => session.explain(plan, bounds),
    canAggregate: (plan) => session.canAggregate(plan),
    aggregate: (plan, begin, bounds) => session.aggregate(plan, begin, bounds),
    explainAggregate: (plan, bounds) => session.explainAggregate(plan, bounds),
    // From the supply as well: a transaction cannot wait for another store.
    nextValues: async (sequence, count) => draw(sequence, count),
    write: (plan, begin, bounds) => session.write(drawingFrom(oneOf(draw), plan), begin, bounds),
  }
}

type DrawMany = (sequence: Sequence, count: number) => readonly bigint[]

function oneOf(draw: DrawMany): Draw {
  return (sequence) => draw(sequence, 1)[0]!
}

function drawingFrom(draw: Draw, plan: WritePlan): WritePlan {
  switch (plan.kind) {
    case 'update':
      return { ...plan, change: (stored) => plan.change(stored, draw) }
    case 'save': {
      const items = plan.items.map((item) => ({
        ...item,
        change: (stored: Parameters<typeof item.change>[0]) => item.change(stored, draw),
      }))
      return { ...plan, items }
    }
    case 'insert':
    case 'delete':
      return plan
  }
}

/** Thrown inside a transaction to abort it: values come from another store, and the transaction cannot wait for it. */
class OutOfValues extends Error {
  readonly sequence: Sequence
  readonly count: number

  constructor(sequence: Sequence, count: number) {
    super(`the sequence ${sequence.name} must give ${count} more values`)
    this.sequence = sequence
    this.count = count
  }
}

/**
 * Runs work that draws values. The number of values is unknown until the work runs. When the supply of a
 * sequence is used up, the work is rolled back, the supply is at least doubled, and the work runs again. Unused values
 * are lost.
 */
async function withSupply<T>(
  home: Home,
  bounds: Bounds | undefined,
  work: (draw: DrawMany) => Promise<T>,
): Promise<T> {
  const supply = new Map<string, readonly bigint[]>()
  for (;;) {
    const taken = new Map<string, number>()
    try {
      return await work((sequence, count) => {
        const start = taken.get(sequence.name) ?? 0
        const values = supply.get(sequence.name)?.slice(start, start + count) ?? []
        if (values.length < count) throw new OutOfValues(sequence, count - values.length)
        taken.set(sequence.name, start + count)
        return values
      })
    } catch (error) {
      if (!(error instanceof OutOfValues)) throw error
      const { sequence, count } = error
      const had = supply.get(sequence.name) ?? []
      const more = await home.nextValues(sequence, Math.max(FIRST_SUPPLY, had.length, count), bounds)
      supply.set(sequence.name, [...had, ...more])
    }
  }
}

const FIRST_SUPPLY = 16
