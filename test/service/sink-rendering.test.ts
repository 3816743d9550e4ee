/** Events for sinks that another thread renders, because their documents are large. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../src/base/errors.ts'
import type { RenderForSink } from '../../src/service/sink-service.ts'
import { createSinkRendering } from '../../src/service/sinks/rendering.ts'
import type { StoredEvent } from '../../src/store/events.ts'
import { type TestServer, startTestServer } from '../support/server.ts'
import {
  ADMIN,
  ANYONE,
  type TestService,
  metadataDocument,
  openServiceAt,
  openTestService,
} from '../support/service.ts'
import { freshPlace, onEveryStore } from '../support/store-kind.ts'
import { type Taker, NEARBY, addSink, eventually, sinkTo, taker } from './http/sinks-kitchen.ts'

const LARGE = 'x'.repeat(200_000)
const HOOKS = { info: { hooks: [{ name: 'all', actions: ['insert', 'update'] }] } }

interface Kitchen extends AsyncDisposable {
  readonly tester: TestService
  readonly receiver: Taker
  readonly write: (_id: string, s: string) => Promise<void>
}

async function openKitchen(): Promise<Kitchen> {
  await using opened = new AsyncDisposableStack()
  const receiver = opened.use(await taker())
  const tester = opened.use(await openTestService({ events: NEARBY }))
  await tester.define('dish', { s: { type: 'string' } }, HOOKS)
  await tester.service.sinks.create(ADMIN, sinkTo(receiver.url))
  const owned = opened.move()
  return {
    tester,
    receiver,
    async write(_id, s) {
      const { status } = await tester.service.data.save(
        ADMIN,
        { entity: 'dish' },
        { data: { _id, s }, upsert: true },
      )
      assert.equal(status, 'COMPLETE')
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** What is taken of each document, in the order in which it came. */
function lengthsOf({ taken }: Taker, id: string): readonly number[] {
  return taken.flatMap(({ data }) => (data.documentId === id ? [data.after.s.length] : []))
}

onEveryStore(() => {
  test('sinks: only large events are rendered elsewhere, and a busy thread is no failure of the sink', async () => {
    await using kitchen = await openKitchen()
    const { tester, receiver, write } = kitchen
    const { sinks } = tester.service
    const rendered: string[] = []
    sinks.renderLargeBy(async (event, caller) => {
      rendered.push(event.document)
      if (rendered.length === 1) throw new ServiceError('crud:Unavailable', 'too many slow requests at once')
      return sinks.render(event, caller)
    })
    await write('1', LARGE)
    await write('1', 'short')
    await write('2', 'small')
    await eventually(() => receiver.taken.length === 3, 'all are taken')
    // The second event of the document has a large state before it.
    assert.deepEqual(rendered, ['1', '1', '1'])
    assert.deepEqual(lengthsOf(receiver, '1'), [LARGE.length, 5])
    assert.deepEqual(lengthsOf(receiver, '2'), [5])
    assert.equal(receiver.asked(), 3)
    const { failures, status } = (await sinks.get(ADMIN, 'kitchen')) as Record<string, unknown>
    assert.deepEqual({ failures, status }, { failures: 0, status: 'active' })
  })

  test('sinks: what another thread fails to render as it ends is rendered by this one', async () => {
    await using kitchen = await openKitchen()
    const { tester, receiver, write } = kitchen
    const { sinks } = tester.service
    const begun = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<never>()
    sinks.renderLargeBy(() => {
      begun.resolve()
      return ended.promise
    })
    await write('1', LARGE)
    await begun.promise
    sinks.renderLargeBy(undefined)
    ended.reject(new Error('the threads were ended'))
    await eventually(() => receiver.taken.length === 1, 'it is taken')
    assert.equal(receiver.asked(), 1)
    const { failures } = (await sinks.get(ADMIN, 'kitchen')) as Record<string, unknown>
    assert.equal(failures, 0)
  })

  test('sinks: delivery that ends waits for no rendering, and goes on with it later', async () => {
    const begun = Promise.withResolvers<AbortSignal>()
    const never: RenderForSink = (_event, _caller, signal) => {
      begun.resolve(signal)
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')))
      })
    }
    await using receiver = await taker()
    await using place = await freshPlace()
    {
      await using service = await openServiceAt(place.location, { events: NEARBY })
      const create = metadataDocument('dish', { s: { type: 'string' } }, HOOKS)
      await service.metadata.create(ADMIN, { entity: 'dish', version: '1.0.0' }, create)
      await service.sinks.create(ADMIN, sinkTo(receiver.url))
      service.sinks.renderLargeBy(never)
      await service.data.insert(ADMIN, { entity: 'dish' }, { data: { _id: '1', s: LARGE } })
      assert.equal((await begun.promise).aborted, false)
    }
    assert.equal((await begun.promise).aborted, true)
    assert.equal(receiver.asked(), 0)
    await using _again = await openServiceAt(place.location, { events: NEARBY })
    await eventually(() => receiver.taken.length === 1, 'it is taken')
    assert.equal(receiver.asked(), 1)
  })

  test('threads: what a sink gets of a large event is what its roles may see, with every digit', async () => {
    await using receiver = await taker()
    await using server = await startTestServer({ events: NEARBY })
    await defineLarge(server)
    await addSink(server, sinkTo(receiver.url, { roles: ['clerk'] }))
    const any = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i]))
    const digits = '12345678901234567890.12345678901234567890'
    const text = JSON.stringify({ ...any, digits: 'D' }).replace('"D"', digits)
    const sent = await server.ask('PUT', '/data/insert/large', {
      body: `{"data":{"_id":7,"secret":"s","any":${text}}}`,
      roles: ['boss'],
    })
    assert.equal(sent.status, 200, sent.text)
    await eventually(() => receiver.taken.length === 1, 'it is taken')
    const [{ data, ...head }] = receiver.taken as [Taker['taken'][0]]
    assert.deepEqual(
      { ...head, id: data.id, time: '' },
      {
        specversion: '1.0',
        id: data.id,
        source: '/entities/large',
        type: 'smalt.insert',
        subject: '7',
        time: '',
        datacontenttype: 'application/json',
      },
    )
    assert.deepEqual(data.changed, ['objectType', '_id', 'any'])
    assert.equal(data.after.any.k19999, 19_999)
    assert.ok(receiver.bodies[0]!.includes(`"digits":${digits}`))
    assert.deepEqual(server.faults(), [])
  })
})

test('sinks: that metadata is not read yet is no failure of the receiver', async () => {
  const unknown = (): never => {
    throw new ServiceError('crud:UnknownEntity', 'there is no entity "dish"')
  }
  const { renderEvent } = createSinkRendering({ schemaOf: unknown, isInStep: async () => false })
  const details = '{"entityVersion":"1.0.0","principal":"","date":"","hook":{}}'
  const event = { seq: 1, entity: 'dish', hook: 'all', operation: 'insert', document: '1', at: 0 } as const
  const stored = { ...event, details, before: null, after: '{}' } as unknown as StoredEvent
  assert.equal(await renderEvent(stored, ADMIN, new AbortController().signal), 'postponed')
})

async function defineLarge(server: TestServer): Promise<void> {
  const secret = { type: 'string', access: { find: ['boss'] } }
  const fields = { _id: { type: 'integer' }, any: { type: 'any' }, secret }
  await server.define('large', fields, {
    ...HOOKS,
    schema: { access: { ...ANYONE, find: ['boss', 'clerk'] } },
  })
}
