/** A stream ends when metadata no longer grants what it began with. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import {
  ADMIN,
  ANYONE,
  EVERYTHING,
  type TestService,
  callerWith,
  metadataDocument,
  openTestService,
} from '../../support/service.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const COUNT = 3_000
const VERSION = '1.0.0-SNAPSHOT'
const CLERK = callerWith('clerk')
const FIELDS: JsonObject = { s: { type: 'string' }, note: { type: 'string' } }
const GRANTED: JsonObject = { ...ANYONE, find: ['clerk'] }
const ruled = (rvalue: string): JsonObject => ({
  ...ANYONE,
  find: [{ role: 'clerk', where: { field: 's', op: '!=', rvalue } }],
})

onEveryStore(() => {
  let tester: TestService
  let entities = 0

  before(async () => {
    tester = await openTestService()
  })
  after(() => tester[Symbol.asyncDispose]())

  function define(entity: string, access: JsonObject, fields = FIELDS): Promise<unknown> {
    const schema = { access, version: { value: VERSION, changelog: 'made' } }
    const info = { defaultVersion: VERSION }
    const document = metadataDocument(entity, fields, { info, schema })
    return tester.service.metadata.create(ADMIN, { entity, version: VERSION }, document)
  }

  type MetadataChange = (entity: string) => Promise<unknown>

  /** How many documents came, and the trailer, when metadata changes after the first document, and after those that follow. */
  async function streamed(access: JsonObject, ...changes: readonly MetadataChange[]) {
    const entity = `e${entities++}`
    await define(entity, access)
    const data = Array.from({ length: COUNT }, (_, i) => ({ _id: `${i}`, s: 'x'.repeat(300), note: 'n' }))
    assert.equal((await tester.insert(entity, { data })).modifiedCount, COUNT)
    const answer = await tester.service.data.stream(CLERK, { entity }, { projection: EVERYTHING })
    assert.ok(!('status' in answer), JSON.stringify(answer))
    const lines: string[] = []
    for await (const line of answer) {
      lines.push(line)
      await changes[lines.length - 2]?.(entity)
    }
    const trailer = JSON.parse(lines.at(-1)!) as { status: string; errors?: readonly { errorCode: string }[] }
    return { count: lines.length - 2, status: trailer.status, code: trailer.errors?.[0]?.errorCode }
  }

  const ENDED = { count: 1, status: 'ERROR', code: 'crud:NoAccess' }
  const WHOLE = { count: COUNT, status: 'COMPLETE', code: undefined }
  const hidden = { ...FIELDS, note: { type: 'string', access: { find: ['boss'] } } }
  const narrowed = { ...FIELDS, note: { type: 'string', access: { find: ruled('b')['find']! } } }

  const CASES: readonly (readonly [
    rule: string,
    access: JsonObject,
    change: MetadataChange,
    expected: typeof ENDED | typeof WHOLE,
  ])[] = [
    [
      'ends when the version is disabled',
      GRANTED,
      async (entity) => {
        const { metadata } = tester.service
        await metadata.clearDefault(ADMIN, entity)
        await metadata.setStatus(ADMIN, { entity, version: VERSION }, { status: 'disabled' })
      },
      ENDED,
    ],
    [
      'ends when the caller is denied',
      GRANTED,
      (entity) => define(entity, { ...GRANTED, find: ['boss'] }),
      ENDED,
    ],
    ['ends when a field is hidden', GRANTED, (entity) => define(entity, GRANTED, hidden), ENDED],
    ['ends when a field gets a rule', GRANTED, (entity) => define(entity, GRANTED, narrowed), ENDED],
    ['ends when documents get a rule', GRANTED, (entity) => define(entity, ruled('a')), ENDED],
    ['ends when the rule is another one', ruled('a'), (entity) => define(entity, ruled('b')), ENDED],
    [
      'goes on when others are granted more',
      ruled('a'),
      (entity) =>
        define(entity, { ...ruled('a'), update: ['boss'] }, { ...FIELDS, more: { type: 'string' } }),
      WHOLE,
    ],
    ['goes on when another entity changes', GRANTED, (entity) => define(`${entity}x`, GRANTED), WHOLE],
  ]

  test('stream: ends when the caller is denied right after another change of metadata', async () => {
    const ended = await streamed(
      GRANTED,
      (entity) => define(`${entity}x`, GRANTED),
      (entity) => define(entity, { ...GRANTED, update: ['boss'] }),
      (entity) => define(entity, { ...GRANTED, find: ['boss'] }),
    )
    assert.deepEqual(ended, { ...ENDED, count: 3 })
  })

  test('stream: ends before a document that waited while the next one was rendered', async () => {
    const entity = `e${entities++}`
    const fields = { ...FIELDS, l: { type: 'array', items: { type: 'object', fields: { x: FIELDS['s']! } } } }
    await define(entity, GRANTED, fields)
    const l = Array.from({ length: 150_000 }, () => ({ x: 'x' }))
    await tester.insert(entity, { data: [{ _id: 'a' }, { _id: 'b', l }] })
    let rendered = 0
    const offload = async () => {
      rendered++
      await define(entity, { ...GRANTED, find: ['boss'] }, fields)
      return { status: 200, text: '{"data":{}}', hasExceededResponse: false }
    }
    const request = { projection: { field: 'l.*.x' }, sort: { _id: '$asc' } }
    const answer = await tester.service.data.stream(CLERK, { entity, offload }, request)
    assert.ok(!('status' in answer), JSON.stringify(answer))
    const lines = await Array.fromAsync(answer)
    assert.equal(rendered, 1)
    assert.equal(lines.length, 2, lines.join().slice(0, 300))
    assert.match(lines[1]!, /crud:NoAccess/)
  })

  for (const [rule, access, change, expected] of CASES) {
    test(`stream: ${rule}`, async () => {
      assert.deepEqual(await streamed(access, change), expected)
    })
  }
})
