/** Writes with an idempotency key that a killed process did not answer are sent again: each has happened once. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'node:test'
import { type Chance, sampleEvenly } from '../../support/chance.ts'
import { SEED } from '../../support/seed.ts'
import { metadataDocument } from '../../support/service.ts'
import { type SmaltProcess, startSmalt } from '../../support/smalt-process.ts'
import { freshPlace, onEveryStore } from '../../support/store-kind.ts'

const CLIENTS = 3
const COUNTER = { field: '_id', op: '=', rvalue: 'counter' }
const JSON_TYPE = 'application/json'

interface Write {
  readonly key: string
  readonly method: string
  readonly path: string
  readonly type: string
  readonly body: string
  /** What it adds to the counter, and how many documents it makes. */
  readonly adds: number
  readonly makes: number
}

onEveryStore((kind) => {
  const rounds = kind === 'sqlite' ? 10 : 5
  test(`crash: after ${rounds} kills each write with a key has happened once (SMALT_SEED=${SEED})`, async (t) => {
    t.diagnostic(`SMALT_SEED=${SEED}`)
    await using place = await freshPlace()
    const done: Write[] = []
    /** Writes without an answer, one for each client. */
    const open = new Map<number, Write>()
    let repeated = 0
    const chance = sampleEvenly(SEED, (each) => each)
    for (let round = 0; round < rounds; round++) {
      await using smalt = await startSmalt(place.location)
      if (round === 0) await define(smalt)
      repeated += open.size
      const clients = Array.from({ length: CLIENTS }, (_, i) => work(smalt, i))
      // at any moment of the writes that follow the first ones
      const enough = done.length + 1 + chance.int(20)
      while (done.length < enough) await pause(1)
      await pause(chance.int(20))
      await smalt.kill('SIGKILL')
      await Promise.all(clients)
    }
    await using smalt = await startSmalt(place.location)
    for (const write of open.values()) {
      assert.ok(await send(smalt, write), 'it is answered now')
      done.push(write)
    }
    assert.ok(repeated >= rounds, `${repeated} repetitions after a kill`)
    const sum = (pick: (write: Write) => number): number => done.reduce((all, each) => all + pick(each), 0)
    const counter = await smalt.ask('POST', '/data/find/thing', {
      query: COUNTER,
      projection: { field: 'i' },
    })
    assert.equal(
      counter.json.processed[0].i,
      sum(({ adds }) => adds),
    )
    const all = await smalt.ask('POST', '/data/find/thing', {
      projection: { field: '_id' },
      range: [0, 0],
    })
    assert.equal(all.json.matchCount, 1 + sum(({ makes }) => makes))
    t.diagnostic(`${done.length} writes, ${repeated} of them sent again after a kill`)

    /** Sends writes until the process is gone; the one without an answer is the first in the next round. */
    async function work(at: SmaltProcess, client: number): Promise<void> {
      for (;;) {
        const write = open.get(client) ?? someWrite(chance)
        open.set(client, write)
        if (!(await send(at, write))) return
        open.delete(client)
        done.push(write)
      }
    }
  })
})

async function define(smalt: SmaltProcess): Promise<void> {
  const fields = { _id: { type: 'string' }, i: { type: 'integer' }, s: { type: 'string' } }
  const defined = await smalt.ask('PUT', '/metadata/thing/1.0.0', metadataDocument('thing', fields))
  assert.equal(defined.status, 200, defined.text)
  await smalt.ask('PUT', '/data/insert/thing', { data: [{ _id: 'counter', i: 0 }] })
}

function someWrite(chance: Chance): Write {
  const adds = chance.int(5) + 1
  const update = { query: COUNTER, update: { $add: { i: adds } } }
  const records = Array.from({ length: 600 }, (_, i) => `{"s":"${i}"}\n`).join('')
  const common = { key: randomUUID(), method: 'POST', type: JSON_TYPE, adds: 0, makes: 0 }
  return chance.pick<Write>([
    { ...common, path: '/data/update/thing', body: JSON.stringify(update), adds },
    { ...common, path: '/data/update/thing', body: JSON.stringify(update), adds },
    { ...common, path: '/documents/thing', body: '{"s":"made"}', makes: 1 },
    { ...common, path: '/data/import/thing', type: 'application/x-ndjson', body: records, makes: 600 },
  ])
}

/** Whether there was a complete answer; none if the process is gone. */
async function send({ url }: SmaltProcess, { key, method, path, type, body }: Write): Promise<boolean> {
  for (;;) {
    try {
      const headers = { 'content-type': type, 'idempotency-key': key }
      const answer = await fetch(`${url}${path}`, { method, headers, body })
      const text = await answer.text()
      // on PostgreSQL the transaction of the killed process may live a moment longer
      const isHeld = answer.status === 409 || text.includes('crud:IdempotencyConflict')
      if (!isHeld) {
        assert.ok(answer.ok, text)
        assert.match(text, /"status":"COMPLETE"|"s":"made"/)
        return true
      }
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error
      return false
    }
    await pause(20)
  }
}
