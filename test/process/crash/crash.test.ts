/** A process killed at any moment loses nothing it acknowledged and leaves nothing half done. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { type Chance, chanceFrom } from '../../support/seeded.ts'
import { diskDirectory } from '../../support/disk.ts'
import { type Answer, askServer } from '../../support/server.ts'
import { SEED } from '../../support/seed.ts'
import { metadataDocument } from '../../support/service.ts'
import { type Running, run, start } from './child.ts'

const ROUNDS = 20
const CONNECTIONS = 4
/** Far more than they take: what hangs must end all the same. */
const BOUNDED = { timeout: 500_000 }

const scratch = mkdtempSync(join(diskDirectory(), 'smalt-crash-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

/** One insert: its documents stand together or not at all. */
interface Batch {
  readonly no: number
  readonly size: number
  isAcknowledged: boolean
}

test(
  `crash: ${ROUNDS} kills lose nothing acknowledged, invent nothing, halve nothing (SMALT_SEED=${SEED})`,
  BOUNDED,
  async (t) => {
    t.diagnostic(`SMALT_SEED=${SEED}`)
    const data = join(scratch, 'kills')
    const chance = chanceFrom(SEED)
    const batches: Batch[] = []
    let running = await start(data)
    // a process that goes on would keep this one from ending after a failure
    t.after(() => running.child.kill('SIGKILL'))
    await define(running.port)
    for (let round = 0; round < ROUNDS; round++) {
      await writeUntilKilled(running, batches, chance)
      running = await start(data)
      await checkAll(running.port, batches, round)
    }
    t.diagnostic(
      `${batches.length} inserts, ${batches.filter((each) => each.isAcknowledged).length} acknowledged`,
    )
    running.child.kill('SIGTERM')
    assert.equal((await running.ended).code, 0)
  },
)

test('SIGTERM: requests in flight are answered, and the process ends with 0', BOUNDED, async () => {
  const running = await start(join(scratch, 'drain'))
  await define(running.port)
  const body = JSON.stringify({ data: documents({ no: 1, size: 50 }) })
  const socket = connect(running.port, '127.0.0.1')
  const length = Buffer.byteLength(body)
  const head = `PUT /data/insert/entry HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n`
  socket.write(`${head}Expect: 100-continue\r\n\r\n`)
  // the interim answer tells that the request is under way
  await once(socket, 'data')
  running.child.kill('SIGTERM')
  await refused(running.port)
  let answer = ''
  socket.on('data', (chunk) => (answer += String(chunk)))
  socket.write(body)
  await once(socket, 'close')
  assert.match(answer, /^HTTP\/1\.1 200 [^]*Connection: close[^]*"status":"COMPLETE","modifiedCount":50/)
  assert.deepEqual(await running.ended, { code: 0, signal: null, err: '' })

  const again = await start(join(scratch, 'drain'))
  assert.equal((await stored(again.port)).length, 50)
  again.child.kill('SIGTERM')
  assert.equal((await again.ended).code, 0)
})

test('a second start on the same data is refused with 6 while the first keeps serving', BOUNDED, async () => {
  const data = join(scratch, 'locked')
  const first = await start(data)
  await define(first.port)
  const second = await run(data)
  assert.equal(second.code, 6)
  assert.match(second.err, /in use/)
  assert.ok(second.err.includes(data))
  assert.doesNotMatch(second.err, /\bat .*:\d+:\d+/)
  await insert({ port: first.port }, { no: 1, size: 3 })
  assert.equal((await stored(first.port)).length, 3)
  first.child.kill('SIGTERM')
  assert.equal((await first.ended).code, 0)
})

test('a killed process leaves its data free for the next one', BOUNDED, async () => {
  const data = join(scratch, 'freed')
  const first = await start(data)
  first.child.kill('SIGKILL')
  assert.equal((await first.ended).signal, 'SIGKILL')
  const second = await start(data)
  second.child.kill('SIGTERM')
  assert.equal((await second.ended).code, 0)
})

async function define(port: number): Promise<void> {
  const fields = {
    batch: { type: 'integer', constraints: { required: true } },
    place: { type: 'integer', constraints: { required: true } },
    size: { type: 'integer', constraints: { required: true } },
    text: { type: 'string', constraints: { required: true } },
    words: { type: 'string', constraints: { required: true } },
    list: { type: 'array', items: { type: 'integer' } },
    number: {
      type: 'integer',
      constraints: { required: true },
      valueGenerator: { type: 'IntSequence', configuration: { name: 'numbers' } },
    },
  }
  const indexes = [
    {
      name: 'places',
      unique: true,
      fields: [
        { field: 'batch', dir: '$asc' },
        { field: 'place', dir: '$asc' },
      ],
    },
    { name: 'items', unique: false, fields: [{ field: 'list.*', dir: '$asc' }] },
    { name: 'words', kind: 'text', fields: [{ field: 'words' }] },
  ]
  const body = metadataDocument('entry', fields, { info: { indexes } })
  const answer = await askServer({ port }, 'PUT', '/metadata/entry/1.0.0', { body })
  assert.equal(answer.status, 200, answer.text)
}

/** Writes over several connections; the kill comes after a random number of answers, while others are under way. */
async function writeUntilKilled(
  { port, child, ended }: Running,
  batches: Batch[],
  chance: Chance,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const killAfter = 1 + chance(40)
  let answers = 0
  let isKilled = false
  const write = async (): Promise<void> => {
    while (!isKilled) {
      const batch = { no: batches.length, size: chance(2) === 0 ? 1 : 2 + chance(30), isAcknowledged: false }
      batches.push(batch)
      try {
        await insert({ port, agent }, batch)
        batch.isAcknowledged = true
      } catch (error) {
        if (!isKilled) throw error
      }
      if (++answers < killAfter || isKilled) continue
      isKilled = true
      // now and then a little later, in the midst of what the others just sent
      for (let turns = chance(200); turns > 0; turns--) await new Promise(setImmediate)
      child.kill('SIGKILL')
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, write))
  agent.destroy()
  assert.equal((await ended).signal, 'SIGKILL')
}

async function insert(
  peer: { port: number; agent?: Agent },
  batch: Pick<Batch, 'no' | 'size'>,
): Promise<void> {
  const answer = await askServer(peer, 'PUT', '/data/insert/entry', { body: { data: documents(batch) } })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.json.status, 'COMPLETE', answer.text)
  assert.equal(answer.json.modifiedCount, batch.size)
}

function documents({ no, size }: Pick<Batch, 'no' | 'size'>): Json {
  return Array.from({ length: size }, (_, place): JsonObject => ({
    batch: no,
    place,
    size,
    text: textOf(no, place),
    words: wordsOf(no, place).join(' '),
    list: [no, place, size],
  }))
}

/** Long enough that a document spans pages of the file now and then. */
function textOf(no: number, place: number): string {
  return `${no}/${place};`.repeat(1 + ((no * 31 + place * 7) % 200))
}

/** Words that some documents have, and one that all have. */
function wordsOf(no: number, place: number): readonly string[] {
  return [`place${place}`, `tens${Math.floor(no / 10)}`, 'all']
}

interface Entry {
  readonly _id: string
  readonly batch: number
  readonly place: number
  readonly size: number
  readonly text: string
  readonly words: string
  readonly list: readonly number[]
  readonly number: number
}

async function stored(port: number, search = ''): Promise<readonly Entry[]> {
  const answer: Answer = await askServer({ port }, 'GET', `/data/find/entry${search}`, {})
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.json.matchCount, answer.json.processed.length)
  return answer.json.processed
}

async function checkAll(port: number, batches: readonly Batch[], round: number): Promise<void> {
  const entries = await stored(port)
  const numbers = new Set(entries.map(({ number }) => number))
  assert.equal(numbers.size, entries.length, `round ${round}: a number of the sequence was given twice`)
  const found = Map.groupBy(entries, ({ batch }) => batch)
  for (const { no, size, isAcknowledged } of batches) {
    const own = found.get(no) ?? []
    found.delete(no)
    if (own.length === 0 && !isAcknowledged) continue
    assert.equal(own.length, size, `round ${round}: batch ${no} of ${size} has ${own.length} documents`)
    for (const entry of own) checkWhole(entry, size)
    assert.equal(
      new Set(own.map(({ place }) => place)).size,
      size,
      `round ${round}: one of batch ${no} stands twice`,
    )
  }
  assert.deepEqual([...found.keys()], [], `round ${round}: documents that nobody sent`)
  await checkIndexes(port, entries)
}

function checkWhole(entry: Entry, size: number): void {
  const { _id, batch, place, number, ...rest } = entry
  assert.ok(typeof _id === 'string' && Number.isSafeInteger(number))
  assert.deepEqual(rest, {
    objectType: 'entry',
    size,
    text: textOf(batch, place),
    words: wordsOf(batch, place).join(' '),
    list: [batch, place, size],
    'list#': 3,
  })
}

/** What is found by way of the indexes is what is stored. */
async function checkIndexes(port: number, entries: readonly Entry[]): Promise<void> {
  const last = entries.at(-1)
  if (!last) return
  const byBatch = await stored(port, `?Q=batch:${last.batch}`)
  assert.equal(byBatch.length, entries.filter(({ batch }) => batch === last.batch).length)
  const byItem = await stored(port, `?Q=list.*:${last.batch}`)
  assert.equal(byItem.length, entries.filter(({ list }) => list.includes(last.batch)).length)
  await checkWords(port, entries)
}

/** Each word finds the documents that have it. */
async function checkWords(port: number, entries: readonly Entry[]): Promise<void> {
  const expected = new Map<string, string[]>()
  for (const { _id, words } of entries) {
    for (const word of words.split(' ')) {
      const having = expected.get(word)
      if (having) having.push(_id)
      else expected.set(word, [_id])
    }
  }
  for (const [word, having] of expected) {
    const found = await stored(port, `?filter=text("${word}")&P=_id:1`)
    const ids = found.map(({ _id }) => _id)
    assert.deepEqual(ids, having, `${word} finds ${ids.length} documents of ${having.length}`)
  }
}

/** Resolves when the port takes no new connections any more. */
async function refused(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (!isOpen) return
  }
}
