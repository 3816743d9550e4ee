/** Dry runs of writes: everything is done in a transaction that is rolled back, and the answer says what would happen. */
import { hash } from 'node:crypto'
import type { Caller } from '../access/caller.ts'
import { ServiceError } from '../base/errors.ts'
import type { OutboxEntry, WatchedChange } from '../plan/plan.ts'
import type { Schema } from '../schema/schema.ts'
import type { Bounds } from '../store/bounds.ts'
import type { Database } from '../store/database.ts'
import type { Report, StoreSession } from '../store/store.ts'
import type { Deps } from './deps.ts'
import { eventFor } from './events/view.ts'
import type { DataResponse } from './response.ts'

interface DryRunning {
  /** See `Bounds.caller`. */
  readonly chargedTo?: string | undefined
  /** See `TransactOptions.bounds`. */
  readonly bounds?: Bounds | undefined
  readonly caller: Caller
  readonly schema: Schema
}

/** Runs one write. Inside the transaction of a dry run, the write is a part of it. */
export async function dryRun(
  deps: Deps,
  { caller, schema, chargedTo, bounds }: DryRunning,
  run: (deps: Deps) => Promise<DataResponse>,
): Promise<DataResponse> {
  const events = countEvents(deps, caller, schema)
  const counting = (each: Deps): Promise<DataResponse> =>
    run({
      ...each,
      storeOf: (written) => events.watching(each.storeOf(written)),
      onCaptured: (change, entries) => events.add(change, entries),
    })
  const store = deps.storeIn(schema.collection.datasource)
  const respond = async (): Promise<DataResponse> => {
    if (deps.isDryRun) return await counting(deps)
    if (deps.storeOf(schema) !== store) throw partly()
    const attempt = (session: StoreSession): Promise<DataResponse> => {
      events.clear()
      return counting(dryDeps(deps, session, store))
    }
    return await store.transact(bounds?.work?.repeatable(attempt) ?? attempt, {
      isDryRun: true,
      caller: chargedTo,
      bounds,
    })
  }
  const response = await respond()
  if (response.errors) return response
  // What an atomic request has written before its fault is rolled back.
  if (response.modifiedCount === 0) events.clear()
  return { ...response, dryRun: { events: events.counts() } }
}

/** Operations on the session of a dry run. */
export function dryDeps(deps: Deps, session: StoreSession, store: Database): Deps {
  const storeOf = ({ collection }: Schema): StoreSession => {
    if (deps.storeIn(collection.datasource) !== store) throw elsewhere()
    return session
  }
  return { ...deps, storeOf, isDryRun: true }
}

function elsewhere(): ServiceError {
  const message = 'a dry run must stay within one datasource, and this one needs documents of another'
  return new ServiceError('crud:InvalidRequest', message)
}

function partly(): ServiceError {
  const message =
    'an atomic bulk is done or rolled back as a whole: say "dryRun" in its "execution", not in that of an entry'
  return new ServiceError('crud:InvalidRequest', message, { at: '/execution/dryRun' })
}

/**
 * Counts the events that the caller could read: others would tell whether a field has changed that the caller may not
 * read. A store may try a change several times, or in vain, so each is counted by its content, and only if the store
 * reports that it was written.
 */
function countEvents(deps: Deps, caller: Caller, { entity }: Schema) {
  const seen = new Map<string, { readonly after: string | null; readonly hooks: readonly string[] }>()
  const written = new Set<string>()
  return {
    clear() {
      seen.clear()
      written.clear()
    },
    watching: (session: StoreSession): StoreSession => ({
      ...session,
      write: (plan, begin, bounds) => {
        const beginWatched = (): Report => {
          written.clear()
          const report = begin()
          return (outcome, item) => {
            if (outcome.kind === 'inserted' || outcome.kind === 'updated')
              written.add(hash('sha256', outcome.document.text))
            report(outcome, item)
          }
        }
        return session.write(plan, beginWatched, bounds)
      },
    }),
    add(change: WatchedChange, entries: readonly OutboxEntry[]) {
      const before = 'before' in change ? change.before.text : null
      const after = 'after' in change ? JSON.stringify(change.after) : null
      const visible = entries.filter(
        (entry) => eventFor(deps, { ...entry, seq: 0, document: '', before, after }, caller) !== undefined,
      )
      seen.set(hash('sha256', `${before}\0${after}`), {
        after: after && hash('sha256', after),
        hooks: visible.map(({ hook }) => hook),
      })
    },
    counts() {
      const counts = new Map(deps.hooksOf(entity).map(({ name }) => [name, 0]))
      for (const { after, hooks } of seen.values()) {
        if (after !== null && !written.has(after)) continue
        for (const hook of hooks) counts.set(hook, (counts.get(hook) ?? 0) + 1)
      }
      return Object.fromEntries(counts)
    },
  }
}
