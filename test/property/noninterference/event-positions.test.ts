/**
 * Positions in the log of events reveal nothing of events that are out of sight: two services with as many hidden events, which
 * differ in entity, hook, operation and size, give the same `next` and the same positions to whoever asks.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import type { Service } from '../../../src/service/service.ts'
import { eventually } from '../../service/auth/harness.ts'
import { type TestService, callerWith, openTestService } from '../../support/service.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const CLERK = callerWith('clerk')
const BOSS = callerWith('boss')
const HIDDEN = { find: ['boss'], insert: ['boss'], update: ['boss'], delete: ['boss'] }
const ACTIONS = ['insert', 'update', 'delete']

/** So many hidden events that a page cannot look at all of them. */
const HIDDEN_EVENTS = 6_000
const STEP = 1_000

/** Which hidden entity the n-th step writes. */
type Plan = (step: number) => 'x' | 'y'

async function openWith(plan: Plan, secret: string): Promise<TestService> {
  const tester = await openTestService()
  const fields = { s: { type: 'string' }, secret: { type: 'string', access: { find: ['boss'] } } }
  const hooks = (name: string) => ({ info: { hooks: [{ name, actions: ACTIONS }] } })
  for (const entity of ['x', 'y'])
    await tester.define(entity, fields, { ...hooks(`h${entity}`), schema: { access: HIDDEN } })
  await tester.define('seen', fields, hooks('all'))
  let count = 0
  const write = async (entity: string, ids: readonly string[]): Promise<void> => {
    const data = ids.map((_id): JsonObject => ({ _id, s: 'x' }))
    assert.equal((await tester.service.data.insert(BOSS, { entity }, { data })).status, 'COMPLETE')
    await settled(tester.service, (count += ids.length))
  }
  await write('seen', ['first'])
  for (let step = 0; step < HIDDEN_EVENTS / STEP; step++) {
    await write(
      plan(step),
      Array.from({ length: STEP }, (_, i) => `d${step}-${i}`),
    )
    await write('seen', [`s${step}`])
    // an event of which the clerk may see the entity, but nothing that changed
    const query = { field: '_id', op: '=', rvalue: 'first' }
    const update = { $set: { secret: `${secret}${step}` } }
    await tester.service.data.update(BOSS, { entity: 'seen' }, { query, update })
    await settled(tester.service, ++count)
  }
  return tester
}

async function settled({ events }: Service, count: number): Promise<void> {
  const isThere = async (): Promise<boolean> => {
    const page = await events.read(BOSS, new URLSearchParams(`since=${count - 1}`)).catch(() => undefined)
    return page?.next === count
  }
  await eventually(isThere, `there are ${count} events`)
}

const FILTERS = [
  '',
  'entity=x',
  'entity=y',
  'entity=seen',
  'hook=hx',
  'hook=hy',
  'operation=insert',
  'operation=update',
  'entity=x&operation=delete',
]

/** The content of an answer, without what chance and clocks made. */
async function pagesOf({ service }: TestService, filter: string): Promise<readonly unknown[]> {
  const pages: unknown[] = []
  for (const limit of [1, 100, 1_000]) {
    for (const since of [0, 1, 999, 2_500, 5_999]) {
      const { events, next } = await service.events.read(
        CLERK,
        new URLSearchParams(`${filter}&since=${since}&limit=${limit}`),
      )
      pages.push([limit, since, next, events.map((text) => (JSON.parse(text) as { seq: number }).seq)])
    }
  }
  return pages
}

/** Every position that a follower receives on the way to the end of the log. */
async function positionsOf({ service }: TestService, filter: string): Promise<readonly number[]> {
  const ending = new AbortController()
  const following = { parameters: new URLSearchParams(`${filter}&since=0`), lastEventId: undefined }
  const positions: number[] = []
  const followed = await service.events.follow(CLERK, { ...following, ending: ending.signal })
  for await (const { position } of followed) {
    positions.push(position)
    if (position === LAST) ending.abort()
  }
  return positions
}

const LAST = 1 + HIDDEN_EVENTS + 2 * (HIDDEN_EVENTS / STEP)

onEveryStore(() => {
  test('events: next and positions do not depend on events that are out of sight', async () => {
    await using a = await openWith((step) => (step < 5 ? 'x' : 'y'), 'a')
    await using b = await openWith((step) => (step % 2 === 0 ? 'y' : 'x'), 'b'.repeat(100_000))
    for (const filter of FILTERS) {
      assert.deepEqual(await pagesOf(a, filter), await pagesOf(b, filter), filter)
      assert.deepEqual(await positionsOf(a, filter), await positionsOf(b, filter), filter)
    }
    const { events, next } = await a.service.events.read(CLERK, new URLSearchParams('entity=x&since=0'))
    assert.deepEqual(
      [events, next],
      [[], 1_000],
      'a page looks at a range of numbers that the request alone decides',
    )
  })
})
