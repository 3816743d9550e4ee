/**
 * Random walks by cursor while a second client inserts, updates and deletes: a document that does not change is on
 * exactly one page, in its place in the order. The order may be that of its own fields, of the one document that a
 * reference joins, which does not change either, or of its relevance in a text search.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { printResponse } from '../../../src/service/response.ts'
import { type Chance, sampleEvenly } from '../../support/chance.ts'
import { SEED } from '../../support/seed.ts'
import { ADMIN } from '../../support/service.ts'
import { openTenant } from '../../support/shared-service.ts'
import { onEveryStore } from '../../support/store-kind.ts'
import { walk } from './walk.ts'

const FIELDS: JsonObject = {
  still: { type: 'boolean' },
  n: { type: 'integer' },
  amount: { type: 'bigdecimal' },
  date: { type: 'date' },
  text: { type: 'string' },
  list: { type: 'array', items: { type: 'integer' } },
  words: { type: 'string' },
  no: { type: 'integer' },
}
const MAKER: JsonObject = { no: { type: 'integer' }, name: { type: 'string' }, size: { type: 'bigdecimal' } }
const INDEXES: Json = [
  { fields: [{ field: 'n' }, { field: 'date', dir: '$desc' }] },
  { fields: [{ field: 'text' }] },
  { fields: [{ field: 'amount', dir: '$desc' }] },
  { name: 'words', kind: 'text', fields: [{ field: 'words', weight: 2 }, { field: 'text' }] },
]
const TEXTS = ['', 'a', 'A', 'b', 'ä', '\uffee', '𝔸', 'x'.repeat(900), `${'x'.repeat(900)}y`]
const WORDS = ['a', 'b', 'c', 'd']
const WALKS = 36
const STILL = 120
/** Documents that never change lead to those of the first numbers, which never change either. */
const STILL_MAKERS = 5
const MAKERS = 9

onEveryStore(() => {
  test(`pages: no document that does not change is skipped or repeated (SMALT_SEED=${SEED})`, async () => {
    await using tester = await openTenant()
    const { entity, service } = tester
    const maker = `${entity}maker`
    const query = { field: 'no', op: '=', rfield: '$parent.no' }
    const numbers = { name: 'no', unique: true, fields: [{ field: 'no' }] }
    await tester.define(maker, MAKER, { info: { indexes: [numbers] } })
    const fields = { ...FIELDS, maker: { type: 'reference', entity: maker, query } }
    await tester.define(entity, fields, { info: { indexes: INDEXES } })
    const still = sampleEvenly(SEED, (chance) =>
      Array.from({ length: STILL }, (_, i) => ({
        ...makeDocument(chance, `s${i}`, STILL_MAKERS),
        still: true,
      })),
    )
    const makers = sampleEvenly(SEED, (chance) =>
      Array.from({ length: MAKERS }, (_, no) => makeMaker(chance, no)),
    )
    await tester.store(maker, makers)
    await tester.store(entity, still)
    const writer = startWriter({ entity, maker, service })
    let passing = 0
    try {
      for (let i = 0; i < WALKS; i++) {
        const { query, sort, size } = sampleEvenly(SEED + 1 + i, (chance) =>
          makeWalk(chance, WALK_KINDS[i % WALK_KINDS.length]!),
        )
        const body = { sort, projection: { field: '_id' } }
        const unchanged = { $and: [query, { field: 'still', op: '=', rvalue: true }] }
        const expected = await service.data.find(ADMIN, { entity }, { ...body, query: unchanged })
        assert.equal(expected.status, 'COMPLETE', printResponse(expected))
        // every other page comes at once, while the writer is in the midst of something
        let pages = 0
        const between = async (): Promise<void> => void (pages++ % 2 === 0 && (await writer.next()))
        const walked = await walk({ service, entity, body: { ...body, query }, size, between })
        const found = walked.filter((text) => text.startsWith('{"_id":"s'))
        assert.deepEqual(found, expected.processed, `walk ${i}: ${JSON.stringify({ query, sort, size })}`)
        passing += walked.length - found.length
      }
    } finally {
      await writer.stop()
    }
    const writes = writer.count()
    assert.ok(writes > WALKS * 5 && passing > WALKS * 10, `${writes} writes, ${passing} documents in passing`)
  })
})

interface Walk {
  readonly query: JsonObject
  readonly sort: Json
  readonly size: number
}

const WALK_KINDS = ['fields', 'score', 'reference'] as const

function makeWalk(chance: Chance, kind: (typeof WALK_KINDS)[number]): Walk {
  const paths = ['n', 'amount', 'date', 'text', 'list.*', 'still', '_id']
  const keys = Array.from({ length: chance.int(4) }, () => keyOf(chance, chance.pick(paths)))
  const size = 1 + chance.int(20)
  if (kind === 'score') {
    const text = chance.pick(['a', 'b -d', 'a c', '"a b"', '-c b*', 'a*'])
    return { query: { text, index: 'words' }, sort: [keyOf(chance, '$score'), ...keys], size }
  }
  if (kind === 'fields') return { query: { $and: [] }, sort: keys, size }
  const joined = keyOf(chance, chance.pick(['maker.*.name', 'maker.*.size', 'maker.*._id']))
  return { query: { $and: [] }, sort: chance.happens(50) ? [joined, ...keys] : [...keys, joined], size }
}

function keyOf(chance: Chance, path: string): JsonObject {
  return { [path]: chance.pick(['$asc', '$desc']) }
}

/** Leads to one of the first makers, or to none. */
function makeDocument(chance: Chance, _id: string, makers: number): JsonObject {
  const day = String(1 + chance.int(5)).padStart(2, '0')
  return {
    _id,
    ...(chance.happens(80) && { n: chance.int(5) - 2 }),
    ...(chance.happens(80) && {
      amount: chance.pick(['1.10', '1.1', '-3', '1e3', '12345678901234567890.5']),
    }),
    ...(chance.happens(80) && { date: `2026-01-${day}T00:00:00Z` }),
    ...(chance.happens(80) && { text: chance.pick(TEXTS) }),
    ...(chance.happens(60) && { list: chance.list(3, () => chance.pick([null, 1, 2, 3])) }),
    ...(chance.happens(90) && { words: wordsOf(chance) }),
    ...(chance.happens(80) && { no: chance.int(makers) }),
  }
}

function wordsOf(chance: Chance): string {
  return chance.list(8, () => chance.pick(WORDS)).join(' ')
}

function makeMaker(chance: Chance, no: number): JsonObject {
  return {
    _id: `k${no}`,
    no,
    ...(chance.happens(80) && { name: chance.pick(TEXTS) }),
    ...(chance.happens(80) && { size: chance.pick(['1.10', '1.1', '-3', '7']) }),
  }
}

interface Disturbed extends Pick<Awaited<ReturnType<typeof openTenant>>, 'entity' | 'service'> {
  readonly maker: string
}

/** Writes one after the other until it is stopped. */
function startWriter(disturbed: Disturbed) {
  const state = { count: 0, isStopped: false }
  let current: Promise<void> = Promise.resolve()
  const write = async (): Promise<void> => {
    while (!state.isStopped) {
      current = sampleEvenly(SEED * 1_000 + state.count, (chance) => disturb(chance, disturbed))
      await current
      state.count++
      // finds that are answered at once have their turns as well
      await new Promise(setImmediate)
    }
  }
  const writing = write()
  // a failure is reported by whoever waits for the writer
  writing.catch(() => undefined)
  return {
    count: () => state.count,
    /** Waits for what is being written. */
    next: () => current,
    async stop(): Promise<void> {
      state.isStopped = true
      await writing
    },
  }
}

/** Documents that come, move in the order and go, among them the one at which the page before ended. */
async function disturb(chance: Chance, { entity, maker, service }: Disturbed): Promise<void> {
  const { data } = service
  const moving = { field: '_id', op: '$in', values: Array.from({ length: 6 }, () => `m${chance.int(60)}`) }
  const fresh = Array.from({ length: 4 }, () => makeDocument(chance, `m${chance.int(60)}`, MAKERS))
  const update = {
    $set: {
      n: chance.int(5) - 2,
      text: chance.pick(TEXTS),
      date: '2026-01-03T00:00:00Z',
      words: wordsOf(chance),
      no: chance.int(MAKERS),
    },
    $unset: chance.pick(['amount', 'list']),
  }
  const changing = makeMaker(chance, STILL_MAKERS + chance.int(MAKERS - STILL_MAKERS))
  const responses = await Promise.all([
    data.save(ADMIN, { entity }, { data: fresh, upsert: true }),
    data.update(ADMIN, { entity }, { query: moving, update }),
    data.save(ADMIN, { entity: maker }, { data: changing, upsert: true }),
    ...(chance.happens(50) ? [data.delete(ADMIN, { entity }, { query: moving })] : []),
  ])
  for (const response of responses) assert.notEqual(response.status, 'ERROR', printResponse(response))
}
