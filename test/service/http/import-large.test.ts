/** Records of an import that are too large for the main thread: a worker thread parses and stores them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ImportOptions, importBody } from '../../../src/http/routes/data/import-body.ts'
import type { OffloadRecord } from '../../../src/http/routes/import-record.ts'
import type { Call } from '../../../src/http/routes/route.ts'
import { type Answer, type Ask, type TestServer, startTestServer } from '../../support/server.ts'
import { ADMIN } from '../../support/service.ts'
import { onEveryStore } from '../../support/store-kind.ts'

/** Space after a document changes its size and nothing else. */
const PADDING = ' '.repeat(200_000)

const RECORDS = [
  '{"_id":"1","s":"a","n":12345678901234567890.5}',
  '{"_id":"2" "s"}',
  '{"_id":"3","s":"c"}',
  '{"_id":"1","s":"again"}',
  '{"_id":"4","unknown":1}',
  '["no object"]',
  '{"_id":"5","_id":"6"}',
  `{"_id":"7","any":${'['.repeat(80)}${']'.repeat(80)}}`,
  `{"_id":"8","any":${'['.repeat(60)}${']'.repeat(60)}}`,
  '{"_id":"9","s":"\\ud800"}',
  '',
  '{"_id":"10","s":"z"}',
]
const FIELDS = {
  s: { type: 'string' },
  n: { type: 'bigdecimal' },
  any: { type: 'any' },
  in: { type: 'object', fields: { t: { type: 'string' }, any: { type: 'any' } } },
  pad: { type: 'any' },
}

/** An entity that no other import is into. */
interface Target {
  readonly server: TestServer
  readonly entity: string
}

async function importInto(
  { server, entity }: Target,
  records: readonly string[],
  { more = '', headers = {} }: { readonly more?: string; readonly headers?: Ask['headers'] } = {},
): Promise<Answer> {
  return await server.ask('POST', `/data/import/${entity}${more}`, {
    body: Buffer.from(records.join('\n')),
    headers: { 'Content-Type': 'application/x-ndjson', ...headers },
  })
}

async function stored({ server, entity }: Target): Promise<string> {
  const body = {
    query: { $and: [] },
    projection: { field: '*', recursive: true },
    sort: { _id: '$asc' },
  }
  const { text } = await server.ask('POST', `/data/find/${entity}`, { body })
  return text.replaceAll(entity, 'thing').replaceAll(/"documentVersion":"[^"]*"/g, '')
}

/** Batches differ, so only failures and the end are compared. */
function told({ status, text }: Answer, { entity }: Target): readonly string[] {
  assert.equal(status, 200)
  const lines = text.replaceAll(entity, 'thing').split('\n')
  return lines.filter((line) => line.startsWith('{"line"') || line.startsWith('{"last"'))
}

onEveryStore(() => {
  // one for all tests: each of its own would start a worker thread
  let server: TestServer
  let entities = 0
  before(async () => {
    server = await startTestServer()
  })
  after(() => server[Symbol.asyncDispose]())

  async function open(): Promise<Target> {
    const entity = `thing${++entities}`
    await server.define(entity, FIELDS)
    return { server, entity }
  }

  test('import: large records are stored and refused as small ones are', async () => {
    for (const options of ['', '?upsert=true', '?skip=3']) {
      const [small, large] = [await open(), await open()]
      const [expected, answer] = [
        await importInto(small, RECORDS, { more: options }),
        await importInto(
          large,
          RECORDS.map((each) => each + PADDING),
          { more: options },
        ),
      ]
      assert.deepEqual(told(answer, large), told(expected, small), options)
      assert.equal(await stored(large), await stored(small), options)
      assert.deepEqual(server.faults(), [])
    }
  })

  test('import: large rows of CSV are stored and refused as small ones are', async () => {
    const header = '_id,s,in.t,in.any:json,any:json'
    const rows = [
      '1,a,,"{""n"":12345678901234567890.5}",',
      '2,"""b"", ä",t,,"[1,2]"',
      '3,c,,,"{""n"""',
      '4,"",,,"{""a"":1,""a"":2}"',
      '1,again,,,',
      `5,d,,,${'['.repeat(80)}${']'.repeat(80)}`,
      '6,e,f\0,,',
      '7,g,,null,"null"',
      '8,h,,',
    ]
    for (const options of ['', '?upsert=true', '?skip=3']) {
      const [small, large] = [await open(), await open()]
      const send = (target: Target, lines: readonly string[]): Promise<Answer> =>
        importInto(target, lines, { more: options, headers: { 'Content-Type': 'text/csv' } })
      const pad = (row: string): string => `${row},"${PADDING}1"`
      const expected = await send(small, [`${header},pad:json`, ...rows.map((row) => `${row},1`)])
      const answer = await send(large, [`${header},pad:json`, ...rows.map(pad)])
      assert.deepEqual(told(answer, large), told(expected, small), options)
      assert.match(answer.text, /is not valid JSON/)
      assert.equal(await stored(large), await stored(small), options)
      assert.deepEqual(server.faults(), [])
    }
  })

  test('import: a large record that fails ends an import that stops, and what was before it is stored', async () => {
    for (const bad of ['{"_id":"2",', '{"_id":"2","unknown":1}', '[]']) {
      const target = await open()
      const records = [`{"_id":"1"}${PADDING}`, '{"_id":"0"}', `${bad}${PADDING}`, '{"_id":"3"}']
      const answer = await importInto(target, records, { more: '?onError=stop' })
      const [failure, last] = told(answer, target).map((line) => JSON.parse(line) as Record<string, unknown>)
      assert.equal(failure!['line'], 3)
      assert.deepEqual(last, { last: true, status: 'PARTIAL', records: 2, modifiedCount: 2, failed: 1 })
      assert.match(await stored(target), /"matchCount":2,/)
    }
  })

  test('import: large records with a key are stored once', async () => {
    const target = await open()
    const records = ['{"s":"a"}', `{"s":"b"}${PADDING}`, '{"s":"c"}']
    const send = (lines: readonly string[]): Promise<Answer> =>
      importInto(target, lines, { headers: { 'Idempotency-Key': 'k' } })
    const first = await send(records)
    assert.match(first.text, /"status":"COMPLETE","records":3,"modifiedCount":3,/)
    assert.equal((await send(records)).text, first.text)
    assert.match(await stored(target), /"matchCount":3,/)
    const other = await send([records[0]!, `{"s":"x"}${PADDING}`])
    assert.match(other.text, /"records":1,.*crud:IdempotencyMismatch/)
  })
})

test('import: the main thread hands on the text of a large record, unparsed', async () => {
  const seen: string[] = []
  const offloadRecord: OffloadRecord = async (target, text, write) => {
    seen.push(`${target.entity} ${write.upsert} ${Buffer.from(text).toString().trim()}`)
    return { modifiedCount: 1 }
  }
  const body = [`{"s":"a"}${PADDING}`, `nothing that can be parsed${PADDING}`].join('\n')
  const call = {
    params: { entity: 'thing' },
    caller: ADMIN,
    upload: {
      type: 'application/x-ndjson',
      maxDepth: 8,
      startWork: () => undefined,
      chunks: (async function* () {
        yield Buffer.from(body)
      })(),
    },
    offloadRecord,
  } as unknown as Call
  const options: ImportOptions = { format: 'ndjson', upsert: true, stopsOnError: false, skip: 0 }
  const lines = await Array.fromAsync(importBody(call, options))
  assert.deepEqual(seen, ['thing true {"s":"a"}', 'thing true nothing that can be parsed'])
  assert.equal(lines.at(-1), '{"last":true,"status":"COMPLETE","records":2,"modifiedCount":2,"failed":0}')
})
