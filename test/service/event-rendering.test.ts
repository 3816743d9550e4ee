/** Renderings of large events that readers wait for, and that end when nobody does. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { SharedWork } from '../../src/base/work/shared-work.ts'
import { ADMIN, openTestService } from '../support/service.ts'
import { until } from './sinks/delivering.ts'

const HOOKS = { info: { hooks: [{ name: 'all', actions: ['insert'] }] } }
const LARGE = 'x'.repeat(200_000)

test('shared work: it ends with the last of those who wait, and never if one stays', async () => {
  const left = [new AbortController(), new AbortController()] as const
  const begin = () => {
    const signals: AbortSignal[] = []
    const done = Promise.withResolvers<string>()
    let hasEnded = false
    const work = new SharedWork(
      (signal) => {
        signals.push(signal)
        return done.promise
      },
      () => (hasEnded = true),
    )
    return { work, done, isAborted: () => signals[0]!.aborted, hasEnded: () => hasEnded }
  }
  const shared = begin()
  const [one, other] = left.map(({ signal }) => shared.work.waitFor(signal))
  left[0].abort()
  await assert.rejects(one!, /hung up/)
  assert.equal(shared.isAborted(), false)
  left[1].abort()
  await assert.rejects(other!, /hung up/)
  assert.equal(shared.isAborted(), true)
  assert.equal(shared.hasEnded(), false)
  shared.done.resolve('done')
  await shared.done.promise
  assert.equal(shared.hasEnded(), true)
  const kept = begin()
  const stays = kept.work.waitFor()
  await assert.rejects(kept.work.waitFor(left[0].signal), /hung up/)
  assert.equal(kept.isAborted(), false)
  kept.done.reject(new Error('it fails'))
  await assert.rejects(stays, /it fails/)
})

test('events: a rendering is aborted when the last of its readers has left, not before', async () => {
  await using tester = await openTestService()
  await tester.define('seen', { s: { type: 'string' } }, HOOKS)
  await tester.store('seen', [{ s: LARGE }, { s: LARGE }])
  const { service } = tester
  const { events } = service
  const begun: AbortSignal[] = []
  let finish = (): void => undefined
  events.renderLargeBy(
    (_event, caller, signal) =>
      new Promise((resolve, reject) => {
        begun.push(signal!)
        signal!.addEventListener('abort', () => reject(new Error('nobody waits')))
        finish = () => resolve({ text: JSON.stringify(caller.principal), epoch: service.epoch() })
      }),
  )
  const [one, two] = [new AbortController(), new AbortController()]
  const read = (principal: string, since: number, { signal }: AbortController): Promise<string> =>
    events
      .read({ ...ADMIN, principal }, new URLSearchParams(`since=${since}&limit=1`), {
        getSignal: () => signal,
      })
      .then((page) => page.events.join())
  const first = read('one', 0, one)
  await until(() => begun.length === 1)
  const second = read('two', 0, two)
  await pause(50)
  one.abort()
  await assert.rejects(first, /hung up/)
  assert.deepEqual(
    begun.map(({ aborted }) => aborted),
    [false],
  )
  finish()
  assert.equal(await second, '"one"')
  const third = read('three', 1, two)
  await until(() => begun.length === 2)
  two.abort()
  await assert.rejects(third, /hung up/)
  assert.equal(begun[1]!.aborted, true)
  const fourth = read('four', 1, new AbortController())
  await until(() => begun.length === 3)
  finish()
  assert.equal(await fourth, '"four"')
})

test('events: a follower that ends while an event is rendered ends without an error', async () => {
  await using tester = await openTestService()
  await tester.define('seen', { s: { type: 'string' } }, HOOKS)
  await tester.store('seen', { s: LARGE })
  const { events } = tester.service
  const begun = Promise.withResolvers<AbortSignal>()
  events.renderLargeBy((_event, _caller, signal) => {
    begun.resolve(signal!)
    return new Promise((_resolve, reject) => {
      signal!.addEventListener('abort', () => reject(new Error('nobody waits')))
    })
  })
  const ending = new AbortController()
  const following = { parameters: new URLSearchParams('since=0'), lastEventId: undefined }
  const followed = await events.follow(ADMIN, { ...following, ending: ending.signal })
  const all = Array.fromAsync(followed, (each) => each.events.length)
  await begun.promise
  ending.abort()
  assert.deepEqual(new Set(await all), new Set([0]))
})
