/** Two clients that lose their connections at random, and send again until they have an answer: each write happens once. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Json } from '../../../src/base/json/json.ts'
import { type Chance, sampleEvenly } from '../../support/chance.ts'
import { type Relay, openRelay } from '../../support/relay.ts'
import { SEED } from '../../support/seed.ts'
import { type TestServer, askServer, startTestServer } from '../../support/server.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const RETRIES = 1_000
const COUNTER = { field: '_id', op: '=', rvalue: 'counter' }

interface Write {
  readonly method: string
  readonly path: string
  readonly body: Json
  /** What it adds to the counter, and how many documents it makes. */
  readonly adds: number
  readonly makes: number
}

function someWrite(chance: Chance): Write {
  const adds = chance.int(5) + 1
  const update = { query: COUNTER, update: { $add: { i: adds } }, projection: { field: 'i' } }
  const insert = { data: [{ s: 'made' }, { s: 'made' }], projection: { field: '_id' } }
  const requests = [
    { seq: 1, op: 'update', request: { entity: 'thing', ...update } },
    { seq: 2, op: 'insert', request: { entity: 'thing', ...insert } },
  ]
  return chance.pick<Write>([
    { method: 'POST', path: '/data/update/thing', body: update, adds, makes: 0 },
    { method: 'PUT', path: '/data/insert/thing', body: insert, adds: 0, makes: 2 },
    { method: 'POST', path: '/data/save/thing', body: { ...insert, upsert: true }, adds: 0, makes: 2 },
    { method: 'POST', path: '/documents/thing', body: { s: 'made' }, adds: 0, makes: 1 },
    { method: 'POST', path: '/data/bulk', body: { requests, atomic: chance.happens(50) }, adds, makes: 2 },
  ])
}

class Client {
  retries = 0
  readonly #relay: Relay
  readonly #chance: Chance

  constructor(relay: Relay, chance: Chance) {
    this.#relay = relay
    this.#chance = chance
  }

  /** Sends until there is an answer that is neither lost nor a conflict. */
  async send({ method, path, body }: Write, key: string): Promise<string> {
    const port = Number(new URL(this.#relay.url).port)
    for (;;) {
      if (this.#chance.happens(65)) this.#relay.cutAt(key, this.#chance.pick(['before', 'after']))
      try {
        const answer = await askServer({ port }, method, path, { body, headers: { 'Idempotency-Key': key } })
        if (answer.status === 200 || answer.status === 201) return answer.text
        assert.equal(answer.status, 409, answer.text)
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error
      }
      this.retries++
    }
  }
}

onEveryStore((kind) => {
  test(`idempotency: ${RETRIES} retries over broken connections (seed ${SEED})`, async () => {
    await using opened = new AsyncDisposableStack()
    const first = opened.use(await startTestServer())
    await first.define('thing', { i: { type: 'integer' }, s: { type: 'string' } })
    await first.ask('PUT', '/data/insert/thing', { body: { data: [{ _id: 'counter', i: 0 }] } })
    const servers: TestServer[] = [first, first]
    if (kind === 'postgres') servers[1] = opened.use(await startTestServer({ location: first.location }))
    const clients: Client[] = []
    for (const [i, { port }] of servers.entries()) {
      const relay = opened.use(await openRelay(`http://127.0.0.1:${port}`))
      clients.push(
        new Client(
          relay,
          sampleEvenly(SEED + i, (chance) => chance),
        ),
      )
    }
    let [adds, makes] = [0, 0]
    const retries = (): number => clients.reduce((sum, each) => sum + each.retries, 0)
    await sampleEvenly(SEED, async (chance) => {
      while (retries() < RETRIES) {
        const work = clients.map(async (client) => {
          const write = someWrite(chance)
          adds += write.adds
          makes += write.makes
          const key = randomUUID()
          const answer = await client.send(write, key)
          // an answer that arrived is repeated, by either server
          if (chance.happens(20)) assert.equal(await chance.pick(clients).send(write, key), answer)
        })
        // and now and then both send the same at the same time
        const write = someWrite(chance)
        adds += write.adds
        makes += write.makes
        const key = randomUUID()
        await Promise.all(work)
        const [one, other] = await Promise.all(clients.map((client) => client.send(write, key)))
        assert.equal(one, other)
      }
    })
    const { json } = await first.ask('POST', '/data/find/thing', {
      body: { query: COUNTER, projection: { field: 'i' } },
    })
    const all = await first.ask('POST', '/data/find/thing', {
      body: { projection: { field: '_id' }, range: [0, 0] },
    })
    assert.equal((json as { processed: { i: number }[] }).processed[0]!.i, adds)
    assert.equal((all.json as { matchCount: number }).matchCount, makes + 1)
    assert.deepEqual(first.faults(), [])
  })
})
