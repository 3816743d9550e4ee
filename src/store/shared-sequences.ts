/**
 * Sequences belong to the service, not to a datasource: every other store draws from the default one.
 * Otherwise entities of several datasources that name the same sequence could get the same value twice.
 */
import type { Draw, WritePlan } from '../plan/plan.ts'
import type { Sequence } from '../schema/field.ts'
import type { Database } from './database.ts'
import type { Store, StoreSession } from './store.ts'

type Home = Pick<Store, 'nextValues'>

export function withSequencesOf(home: Home, store: Database): Database {
  return {
    kind: store.kind,
    isShared: store.isShared,
    answers: (query) => store.answers(query),
    description: store.description,
    find: (plan, take, bounds) => store.find(plan, take, bounds),
    stream: (plan, bounds) => store.stream(plan, bounds),
    explain: (plan, bounds) => store.explain(plan, bounds),
    readHistory: (request, bounds) => store.readHistory(request, bounds),
    write: (plan, begin, bounds) =>
      withSupply(home, (draw) => store.write(drawingFrom(draw, plan), begin, bounds)),
    transact: (work, options) =>
      withSupply(home, (draw) =>
        store.transact((session) => work(sessionWith(home, session, draw)), options),
      ),
    ...(store.lendWriter && { lendWriter: () => store.lendWriter!() }),
    nextValues: (sequence, count) => home.nextValues(sequence, count),
    metadata: store.metadata,
    locks: store.locks,
    events: store.events,
    sinks: store.sinks,
    transfer: store.transfer,
    ping: () => store.ping(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}

function sessionWith(home: Home, session: StoreSession, draw: Draw): StoreSession {
  return {
    kind: session.kind,
    answers: (query) => session.answers(query),
    find: (plan, take, bounds) => session.find(plan, take, bounds),
    explain: (plan, bounds) => session.explain(plan, bounds),
    nextValues: (sequence, count) => home.nextValues(sequence, count),
    write: (plan, begin, bounds) => session.write(drawingFrom(draw, plan), begin, bounds),
  }
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

  constructor(sequence: Sequence) {
    super(`the sequence ${sequence.name} must give more values`)
    this.sequence = sequence
  }
}

/**
 * Runs work that draws values. The number of values is unknown until the work runs. When the supply of a
 * sequence is used up, the work is rolled back, the supply is doubled, and the work runs again. Unused values
 * are lost.
 */
async function withSupply<T>(home: Home, work: (draw: Draw) => Promise<T>): Promise<T> {
  const supply = new Map<string, readonly bigint[]>()
  for (;;) {
    const taken = new Map<string, number>()
    try {
      return await work((sequence) => {
        const next = taken.get(sequence.name) ?? 0
        const value = supply.get(sequence.name)?.[next]
        if (value === undefined) throw new OutOfValues(sequence)
        taken.set(sequence.name, next + 1)
        return value
      })
    } catch (error) {
      if (!(error instanceof OutOfValues)) throw error
      const { sequence } = error
      const had = supply.get(sequence.name) ?? []
      const more = await home.nextValues(sequence, Math.max(FIRST_SUPPLY, had.length))
      supply.set(sequence.name, [...had, ...more])
    }
  }
}

const FIRST_SUPPLY = 16
