/** Documents that hooks watch, changed over HTTP in every way there is; and what their events must show in the end. */
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { JsonObject } from '../../src/base/json/json.ts'
import type { StoredEvent } from '../../src/store/events.ts'
import type { Database } from '../../src/store/database.ts'
import type { Chance } from '../support/seeded.ts'
import { metadataDocument } from '../support/service.ts'
import { checkChains } from './events.ts'

export const ENTITY = 'thing'
const BOUNDS = { timeLimitMs: 30_000 }

export function thingMetadata(hookNames: readonly string[] = ['all']): JsonObject {
  const hooks = hookNames.map((name) => ({ name, actions: ['insert', 'update', 'delete'] }))
  const fields = {
    _id: { type: 'string', constraints: { identity: true } },
    n: { type: 'integer' },
    s: { type: 'string' },
  }
  return metadataDocument(ENTITY, fields, { info: { hooks } })
}

export interface Asking {
  readonly method: string
  readonly path: string
  readonly body: JsonObject
}

/** The next change of some of these documents; none leaves a document as it is. */
export function nextChange(chance: Chance, ids: readonly string[]): Asking {
  const id = (): string => ids[chance(ids.length)]!
  const some = (): readonly string[] => [...new Set([id(), id(), id()])]
  const fresh = (_id: string): JsonObject => ({ _id, n: 0, s: `${chance(2 ** 31)}` })
  const one = (): JsonObject => ({ field: '_id', op: '=', rvalue: id() })
  const several = (): JsonObject => ({ field: '_id', op: '$in', values: [...some()] })
  const update = { $add: { n: 1 } }
  const bulk = (): JsonObject => ({
    atomic: true,
    requests: [
      { seq: 1, op: 'update', request: { entity: ENTITY, query: several(), update } },
      { seq: 2, op: 'save', request: { entity: ENTITY, data: [fresh(id())], upsert: true } },
    ],
  })
  // those that get in each other's way most, and then take longest, come least
  const isRare = chance(20) === 0
  const changes: readonly (() => readonly [method: string, operation: string, body: JsonObject])[] = [
    () => (isRare ? ['POST', 'bulk', bulk()] : ['PUT', 'insert', { data: [fresh(id())] }]),
    () => ['PUT', 'insert', { data: some().map(fresh) }],
    () => ['POST', 'update', { query: one(), update }],
    () => ['POST', 'update', { query: one(), update }],
    () => ['POST', 'update', { query: several(), update }],
    () => ['POST', 'save', { data: [fresh(id())], upsert: true }],
    () => ['POST', 'save', { data: some().map(fresh), upsert: true }],
    () => ['POST', 'delete', { query: one() }],
    () => ['POST', 'delete', { query: several() }],
  ]
  const [method, operation, body] = changes[chance(changes.length)]!()
  return { method, path: operation === 'bulk' ? '/data/bulk' : `/data/${operation}/${ENTITY}`, body }
}

/** How many documents an answer says were changed. */
export function changedCount(answer: JsonObject): number {
  const responses = answer['responses'] as readonly { readonly response: JsonObject }[] | undefined
  if (!responses) return Number(answer['modifiedCount'])
  if (responses.some(({ response }) => response['status'] !== 'COMPLETE')) return 0
  return responses.reduce((sum, { response }) => sum + Number(response['modifiedCount']), 0)
}

/** Reads on for as long as `isOver` says no, and then until nothing has come for a while. */
export async function follow(store: Database, isOver: () => boolean): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = []
  let [since, quietRounds] = [0, 0]
  while (quietRounds < 30) {
    const page = await store.events.readEvents({ since, limit: 200, filter: {} }, BOUNDS)
    assert.ok(page.scannedTo >= since)
    events.push(...page.events)
    since = page.scannedTo
    quietRounds = isOver() && page.events.length === 0 ? quietRounds + 1 : 0
    if (page.events.length === 0) await pause(50)
  }
  return events
}

/** Each event came once, those of one document in the order of its changes, and together they show what is stored. */
export async function checkEvents(store: Database, events: readonly StoredEvent[]): Promise<void> {
  assert.ok(events.every(({ seq }, i) => i === 0 || seq > events[i - 1]!.seq))
  assert.equal(new Set(events.map(({ id }) => id)).size, events.length)
  checkChains(events, await storedTexts(store))
}

async function storedTexts(store: Database): Promise<ReadonlyMap<string, string>> {
  const { collections } = await store.metadata.readMetadata()
  const { collection } = collections.find((each) => each.collection.entity === ENTITY)!
  const texts = new Map<string, string>()
  const plan = { collection, sort: [], from: 0, counted: false, idType: 'string' } as const
  await store.find(plan, ({ id, text }) => texts.set(id, text), BOUNDS)
  return texts
}
