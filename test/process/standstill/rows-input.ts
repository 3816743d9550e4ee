/** Rows about what a request is made of: long texts, long numbers, many faults, refused members, large bodies. */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ANYONE } from '../../support/service.ts'
import { ALL, BY_ID, GREEDY, INTEGER, INTEGERS, type Row, STRING, find, prose, times } from './row.ts'

const LONG_NUMBER = `1${'0'.repeat(100_000)}1`
const KEPT = { schema: { access: { ...ANYONE, insert: ['boss'], find: ['boss'] } } }
const MILLION = 1_000_000
const BODY_BYTES = 15.7 * MILLION

export const INPUT_ROWS: readonly Row[] = [
  {
    id: '1a',
    what: '200 KB of ordinary text is stored and found',
    expected: { answers: ['200'] },
    prepare: (on) => on.define('r1', { text: STRING }),
    async send(on) {
      const body = { data: [{ _id: 'long', text: prose(200_000) }] }
      const stored = await on.ask('PUT', '/data/insert/r1', { body, caller: GREEDY })
      const query = BY_ID('long')
      return [
        stored,
        await find(on, 'r1', { query, projection: { field: '_id' } }),
        await find(on, 'r1', { query, projection: ALL }),
      ]
    },
    check: (_, { outcomes }) => outcomes.forEach(({ code }) => assert.equal(code, undefined)),
  },
  {
    id: '1b',
    what: 'a body of 40 KB full of escapes, sent without any role',
    expected: { answers: ['400', '403'] },
    prepare: (on) => on.define('r1b', { text: STRING }, KEPT),
    send: async (on) => [
      await on.ask('POST', '/data/find/r1b', { body: `{"query":"${'\\n'.repeat(20_000)}"}` }),
    ],
  },
  {
    id: '1c',
    what: '40 tokens of 8 KB without a sound signature',
    stores: ['sqlite'],
    options: { env: tokenSettings() },
    expected: { answers: ['401'], cpuMs: 700 },
    async send(on) {
      const headers = { Authorization: `Bearer ${hollowToken()}` }
      const outcomes = []
      for (let i = 0; i < 40; i++) outcomes.push(await on.ask('GET', '/data/find/neighbour', { headers }))
      return outcomes
    },
  },
  {
    id: '2a',
    what: 'a number of 100,000 digits in a query, by anybody',
    expected: { answers: ['400'] },
    send: async (on) => [
      await on.ask('POST', '/data/find/savedSearch', {
        body: `{"query":{"field":"parameters#","op":"=","rvalue":${LONG_NUMBER}},"projection":{"field":"_id"}}`,
        caller: GREEDY,
      }),
    ],
  },
  {
    id: '2b',
    what: 'numbers of 14,000 digits in addresses, by anybody',
    expected: { answers: ['400', '414', '431'], cpuMs: 600 },
    async send(on) {
      const number = `1${'0'.repeat(14_000)}1`
      return [
        await on.ask('GET', `/data/find/savedSearch?Q=parameters%23:${number}`, { caller: GREEDY }),
        await on.ask('PUT', `/data/lock/d/c/r?ttl=${number}`, { caller: GREEDY }),
        await on.ask('GET', `/data/find/savedSearch?Q=_id:a&from=${number}`, { caller: GREEDY }),
      ]
    },
  },
  {
    id: '2c',
    what: 'a ttl of 100,000 digits, and numbers of as many in a document',
    expected: { answers: ['400', '200 metadata:IncompatibleValue', '200 crud:LimitExceeded'] },
    prepare: (on) => on.define('r2c', { n: { type: 'bigdecimal' }, i: INTEGER }),
    async send(on) {
      const lock = `{"operation":"acquire","domain":"d","callerId":"c","resourceId":"r","ttl":${LONG_NUMBER}}`
      const data = `{"data":[{"n":${LONG_NUMBER}},{"i":${LONG_NUMBER}},{"n":0.${LONG_NUMBER}}]}`
      return [
        await on.ask('POST', '/data/lock', { body: lock, caller: GREEDY }),
        await on.ask('PUT', '/data/insert/r2c', { body: data, caller: GREEDY }),
      ]
    },
  },
  {
    id: '3',
    what: 'one insert of 16 MB of wrong values',
    expected: { answers: ['200', '413'], peakMb: 900 },
    prepare: (on) => on.define('r3', { a: INTEGERS }),
    async send(on) {
      const body = Buffer.from(`{"data":[{"a":["x"${',"x"'.repeat(BODY_BYTES / 4)}]}]}`)
      return [await on.ask('PUT', '/data/insert/r3', { body, caller: GREEDY })]
    },
    check(_, { outcomes: [answer] }) {
      assert.ok(answer!.bytes < 20 * MILLION, `${answer!.bytes} bytes tell of the faults`)
    },
  },
  {
    id: '3b',
    what: 'one insert of 50,000 documents that are all wrong',
    expected: { answers: ['200', '413'], peakMb: 900 },
    prepare: (on) => on.define('r3b', { a: INTEGER }),
    async send(on) {
      const body = { data: times(50_000, () => ({ a: 'x', b: 1, c: 2 })) }
      return [await on.ask('PUT', '/data/insert/r3b', { body, caller: GREEDY })]
    },
  },
  {
    id: '11',
    what: '300 KB of members that the caller may not insert',
    expected: { answers: ['200', '403'] },
    async prepare(on) {
      const x = { type: 'integer', access: { insert: ['boss'] } }
      await on.define('r11', { a: { type: 'array', items: { type: 'object', fields: { x } } } })
    },
    async send(on) {
      const body = { data: [{ a: times(37_500, () => ({ x: 1 })) }] }
      return [await on.ask('PUT', '/data/insert/r11', { body, caller: GREEDY })]
    },
    check(_, { outcomes: [answer] }) {
      assert.match(answer!.text, /NoFieldAccess/)
      const faults = answer!.text.split('"errorCode"').length - 1
      assert.ok(faults <= 100, `${faults} faults of one document`)
    },
  },
  ...(
    [
      [
        '15a',
        'decimals',
        (bytes) => `{"data":[{"any":[0${',1.10'.repeat(bytes / 5)}]}]}`,
        ['200', '413', '503'],
      ],
      [
        '15b',
        'empty objects',
        (bytes) => `{"data":[{"any":[0${',{}'.repeat(bytes / 3)}]}]}`,
        ['200', '413', '503'],
      ],
    ] satisfies [string, string, (bytes: number) => string, string[]][]
  ).flatMap(([id, what, bodyOf, answers]): Row[] => [
    {
      id,
      what: `a body of 15.7 MB of ${what}`,
      expected: { answers, limitMs: 15_000, peakMb: 1_400 },
      prepare: (on) => on.define(`r${id}`, { any: { type: 'any' } }),
      send: async (on) => [
        await on.ask('PUT', `/data/insert/r${id}`, {
          body: bodyOf(BODY_BYTES),
          caller: GREEDY,
          withinMs: 15_000,
        }),
      ],
    },
    {
      id: `${id}r`,
      what: `a body of 15.7 MB of ${what}, by a caller who is refused`,
      expected: { answers: ['403'], peakMb: 300 },
      prepare: (on) => on.define(`r${id}r`, { any: { type: 'any' } }, KEPT),
      send: async (on) => [
        await on.ask('PUT', `/data/insert/r${id}r`, { body: bodyOf(BODY_BYTES), caller: GREEDY }),
      ],
    },
  ]),
  {
    id: '15d',
    what: 'a key that stands twice beside a text of 9 MB',
    expected: { answers: ['400'], limitMs: 2_000, peakMb: 500 },
    prepare: (on) => on.define('r15d', { any: { type: 'any' } }),
    async send(on) {
      const body = `{"data":[{"any":{"text":"${'x'.repeat(9 * MILLION)}","a":1,"a":2}}]}`
      return [await on.ask('PUT', '/data/insert/r15d', { body, caller: GREEDY })]
    },
  },
  {
    id: '15e',
    what: 'CSV with a column of 40,000 steps, and one with a name of 900 KB and many rows',
    stores: ['sqlite'],
    expected: { answers: ['200'], peakMb: 300 },
    prepare: (on) => on.define('r15e', { a: STRING }),
    async send(on) {
      const headers = { 'Content-Type': 'text/csv' }
      const texts = [`${'a.'.repeat(40_000)}a\nx\n`, `${'a'.repeat(900_000)}\n${'x\n'.repeat(2_000)}`]
      const outcomes = []
      for (const text of texts)
        outcomes.push(await on.ask('POST', '/data/import/r15e', { body: text, headers, caller: GREEDY }))
      return outcomes
    },
  },
  {
    id: '15f',
    what: 'import of many records that fail, and of many empty lines',
    stores: ['sqlite'],
    expected: { answers: ['200'], peakMb: 300 },
    prepare: (on) => on.define('r15f', { a: INTEGER }),
    async send(on) {
      const headers = { 'Content-Type': 'application/x-ndjson' }
      const outcomes = []
      for (const text of ['{"a":"x"}\n'.repeat(20_000), '\n'.repeat(4 * MILLION)])
        outcomes.push(await on.ask('POST', '/data/import/r15f', { body: text, headers, caller: GREEDY }))
      return outcomes
    },
  },
  {
    id: '15h',
    what: 'eight imports at once, each of a record of 1 MB with 90,000 members',
    expected: { answers: ['200'], limitMs: 20_000, peakMb: 500 },
    prepare: (on) => on.define('r15h', { any: { type: 'any' } }),
    async send(on) {
      const headers = { 'Content-Type': 'application/x-ndjson' }
      const members = times(90_000, (i) => `"k${i}":1`).join()
      const body = `{"any":{${members}}}\n`
      const sent = (i: number) => ({ body, headers, caller: `importer${i}`, withinMs: 30_000 })
      return await Promise.all(times(8, (i) => on.ask('POST', '/data/import/r15h', sent(i))))
    },
  },
  {
    id: '15i',
    what: 'imports of CSV: a row of 1 MB with JSON of 60,000 members, and a header of a million cells',
    stores: ['sqlite'],
    expected: { answers: ['200'], limitMs: 20_000, peakMb: 500 },
    prepare: (on) => on.define('r15i', { any: { type: 'any' } }),
    async send(on) {
      const headers = { 'Content-Type': 'text/csv' }
      const members = times(60_000, (i) => `""k${i}"":1`).join()
      const texts = [`any:json\n"{${members}}"\n`, `${','.repeat(MILLION)}\n`]
      const outcomes = []
      for (const body of texts)
        outcomes.push(await on.ask('POST', '/data/import/r15i', { body, headers, caller: GREEDY }))
      return outcomes
    },
  },
  {
    id: '15g',
    what: '30 locks and 30 streamed finds at once, with bodies of 1 MB that are refused',
    stores: ['sqlite'],
    expected: { answers: ['400', '413'], limitMs: 20_000, peakMb: 500 },
    prepare: (on) => on.define('r15g', { a: STRING }),
    async send(on) {
      const sent = { body: `{"x":[${'{},'.repeat(330_000)}1]}`, caller: GREEDY, withinMs: 20_000 }
      const headers = { Accept: 'application/x-ndjson' }
      return await Promise.all([
        ...times(30, () => on.ask('POST', '/data/lock', sent)),
        ...times(30, () => on.ask('POST', '/data/find/r15g', { ...sent, headers })),
      ])
    },
  },
]

/** Open mode goes on beside the tokens. */
function tokenSettings(): Record<string, string> {
  const file = join(mkdtempSync(join(tmpdir(), 'smalt-keys-')), 'jwks.json')
  writeFileSync(file, '{"keys":[]}')
  return {
    SMALT_AUTH: 'open,jwt',
    SMALT_AUTH_JWT_ISSUER: 'https://id.example.com',
    SMALT_AUTH_JWT_AUDIENCE: 'smalt',
    SMALT_AUTH_JWT_JWKS_FILE: file,
  }
}

/** A header full of escapes, as large as a token may be. */
function hollowToken(): string {
  const encoded = (text: string): string => Buffer.from(text).toString('base64url')
  const header = `{"alg":"ES256","kid":"none","text":"${'\\n'.repeat(2_900)}"}`
  return [encoded(header), encoded('{"iss":"https://id.example.com"}'), encoded('x'.repeat(64))].join('.')
}
