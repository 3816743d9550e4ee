/** Rows about what all callers share: memory, reader threads, long connections, the log of the database, the writer. */
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import type { Outcome } from './client.ts'
import { longest, pause } from './observe.ts'
import { defineBig, defineSlow, endAll, unindexed, walMb } from './crowd.ts'
import { ALL, BY_ID, GREEDY, ID, INTEGER, type Row, STRING, find, times } from './row.ts'

const SLOW_MS = 3_000

export const SHARING_ROWS: readonly Row[] = [
  {
    id: '9a',
    what: '60 sockets that read nothing of an answer of 40 MB each',
    expected: { answers: [], peakMb: 1_000 },
    prepare: defineBig,
    async send(on) {
      const body = { projection: ALL }
      const sockets = await Promise.all(
        times(60, () => on.open('POST', '/data/find/big', { body, caller: GREEDY })),
      )
      await pause(1_500)
      return endAll(sockets)
    },
  },
  {
    id: '9b',
    what: '80 uploads of 15 MB that never end',
    expected: { answers: [], peakMb: 600 },
    async send(on) {
      const part = Buffer.alloc(15_000_000, ' ')
      const headers = { 'Content-Length': '16000000' }
      const sockets: Socket[] = []
      for (let i = 0; i < 80; i++) {
        const socket = await on.open('PUT', '/data/insert/neighbour', {
          headers,
          caller: GREEDY,
          isUnfinished: true,
        })
        socket.write(part)
        sockets.push(socket)
      }
      await pause(1_500)
      return endAll(sockets)
    },
  },
  {
    id: '10',
    what: '16 finds of 40 MB each in a bulk',
    expected: { answers: ['200', '200 crud:ResultSizeTooLarge', '413'], limitMs: 20_000, peakMb: 1_000 },
    prepare: defineBig,
    async send(on) {
      const request = { entity: 'big', projection: ALL }
      const body = { requests: times(16, (seq) => ({ seq, op: 'find', request })) }
      return [await on.ask('POST', '/data/bulk', { body, caller: GREEDY, withinMs: 25_000 })]
    },
    check: (_, { outcomes: [answer] }) =>
      assert.ok(answer!.bytes < 60_000_000, `${answer!.bytes} bytes are one answer`),
  },
  {
    id: '10b',
    what: 'ten million values of a sequence in an atomic bulk',
    expected: { answers: ['200 crud:Rolledback'], limitMs: 20_000, peakMb: 700 },
    prepare: (on) => on.define('r10b', { n: { ...INTEGER, valueGenerator: { type: 'IntSequence' } } }),
    async send(on) {
      const request = { entity: 'r10b', field: 'n', n: 10_000 }
      const body = { atomic: true, requests: times(1_000, (seq) => ({ seq, op: 'generate', request })) }
      return [await on.ask('POST', '/data/bulk', { body, caller: GREEDY, withinMs: 25_000 })]
    },
    check: (_, { outcomes: [answer] }) => assert.match(answer!.text, /crud:ResultSizeTooLarge/),
  },
  {
    id: '10c',
    what: '1,000 updates in an atomic bulk',
    expected: { answers: ['200'], limitMs: 10_000 },
    async prepare(on) {
      await on.define('r10c', { n: INTEGER })
      await on.store('r10c', [{ _id: 'd', n: 0 }])
    },
    async send(on) {
      const request = { entity: 'r10c', query: BY_ID('d'), update: { $add: { n: 1 } } }
      const body = { atomic: true, requests: times(1_000, (seq) => ({ seq, op: 'update', request })) }
      return [await on.ask('POST', '/data/bulk', { body, caller: GREEDY, withinMs: 25_000 })]
    },
  },
  {
    id: '10d',
    what: '1,000 finds of 500 documents each in a bulk',
    expected: { answers: ['200', '200 crud:ResultSizeTooLarge'], limitMs: 20_000, peakMb: 1_000 },
    async prepare(on) {
      await on.define('r10d', { n: INTEGER, s: STRING })
      await on.store(
        'r10d',
        times(500, (n) => ({ _id: `d${n}`, n, s: `text ${n}` })),
      )
    },
    async send(on) {
      const request = { entity: 'r10d', projection: ALL }
      const body = { requests: times(1_000, (seq) => ({ seq, op: 'find', request })) }
      return [await on.ask('POST', '/data/bulk', { body, caller: GREEDY, withinMs: 25_000 })]
    },
  },
  {
    id: '12',
    what: 'unindexed finds of one caller beside the slow find of another',
    expected: { answers: ['200', '504 store-crud:Timeout'], limitMs: SLOW_MS },
    prepare: defineSlow,
    async send(on) {
      const idle = longest([await unindexed(on), await unindexed(on)])
      const query = { field: 'a.*', op: '=', rfield: 'b.*' }
      const body = { query, projection: ID, execution: { maxTimeMs: SLOW_MS } }
      const slow = find(on, 'slow', body)
      await pause(100)
      const others: Outcome[] = []
      for (let i = 0; i < 6; i++) others.push(await unindexed(on))
      const most = longest(others)
      console.log(
        `# row 12 ${on.kind}: unindexed find ${idle.toFixed(0)} ms idle, ${most.toFixed(0)} ms beside a slow one`,
      )
      assert.ok(most < 3 * idle + 800, `another caller waited ${most} ms for a find of ${idle} ms`)
      return [await slow, ...others]
    },
  },
  {
    id: '13',
    what: 'finds and streams of others beside 12 streams that nobody reads',
    expected: { answers: ['200'], peakMb: 700 },
    async prepare(on) {
      await defineBig(on)
      await defineSlow(on)
    },
    async send(on) {
      const body = { projection: ALL }
      const sockets = await Promise.all(
        times(12, () => on.open('POST', '/data/find/big?stream=true', { body, caller: GREEDY })),
      )
      await pause(300)
      const short = { body: { ...body, range: [0, 1] }, caller: 'other' }
      const outcomes = [
        await unindexed(on),
        await on.ask('POST', '/data/find/big?stream=true', short),
        await on.ask('POST', '/data/find/big', short),
      ]
      endAll(sockets)
      return outcomes
    },
  },
  {
    id: '14',
    what: '160 MB written beside a stream that nobody reads',
    stores: ['sqlite'],
    expected: { answers: ['200'], peakMb: 400 },
    async prepare(on) {
      await defineBig(on)
      await on.define('r14', { text: STRING })
    },
    async send(on) {
      const stream = await on.open('POST', '/data/find/big?stream=true', {
        body: { projection: ALL },
        caller: GREEDY,
      })
      const outcomes: Outcome[] = []
      const body = JSON.stringify({ data: [{ text: 'x'.repeat(2_000_000) }] })
      const write = async (): Promise<void> =>
        void outcomes.push(await on.ask('PUT', '/data/insert/r14', { body, caller: 'writer' }))
      for (let i = 0; i < 80; i++) await write()
      const beside = walMb(on)
      endAll([stream])
      for (let i = 0; i < 5; i++) await write()
      const afterwards = walMb(on)
      console.log(
        `# row 14 ${on.kind}: WAL ${beside.toFixed(0)} MB beside the stream, ${afterwards.toFixed(0)} MB afterwards`,
      )
      assert.ok(beside < 90, `${beside} MB of WAL beside a stream that is not read`)
      assert.ok(afterwards < 90, `${afterwards} MB of WAL afterwards`)
      return outcomes
    },
  },
  {
    id: '18',
    what: 'an update, an index and a delete over 20,000 documents',
    expected: { answers: ['200'], limitMs: 12_000, peakMb: 500 },
    async prepare(on) {
      await on.define('r18', { n: INTEGER, s: STRING })
      await on.store(
        'r18',
        times(20_000, (i) => ({ _id: `d${i}`, n: i, s: `${i}${'Abc'.repeat(30)}` })),
      )
    },
    async send(on) {
      const every = { query: { $and: [] }, update: { $add: { n: 1 } } }
      const by = (field: string) => ({ fields: [{ field, caseInsensitive: field === 's' }] })
      const info = {
        name: 'r18',
        defaultVersion: '1.0.0',
        datastore: { backend: on.kind },
        indexes: [by('s'), by('n')],
      }
      const half = { query: { field: 'n', op: '<=', rvalue: 10_000 } }
      return [
        await on.ask('POST', '/data/update/r18', { body: every, caller: GREEDY, withinMs: 20_000 }),
        await on.ask('PUT', '/metadata/r18', { body: info, caller: GREEDY, withinMs: 20_000 }),
        await on.ask('POST', '/data/delete/r18', { body: half, caller: GREEDY, withinMs: 20_000 }),
      ]
    },
    check(_, { outcomes: [updated, , deleted] }) {
      assert.match(updated!.text, /"modifiedCount":20000/)
      assert.match(deleted!.text, /"modifiedCount":10000/)
    },
  },
]
