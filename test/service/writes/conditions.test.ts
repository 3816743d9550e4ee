/** Conditional writes: every operation with every form of the condition, and what each must answer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { type DataResponse, printResponse } from '../../../src/service/response.ts'
import { ADMIN, EVERYTHING, callerWith, codeOf, dataErrorCodes } from '../../support/service.ts'
import { type Tenant, openTenant } from '../../support/shared-service.ts'
import { onEveryStore } from '../../support/store-kind.ts'
import { byId, counts, held, update, versionsOf } from './writing.ts'

/** Three documents; `stale` is a version that the first one had before. */
interface Stage {
  readonly tester: Tenant
  readonly current: readonly string[]
  readonly stale: string
}

async function open(): Promise<Stage> {
  const tester = await openTenant()
  await tester.define(tester.entity, { i: { type: 'integer' } })
  await tester.store(tester.entity, [
    { _id: '1', i: 0 },
    { _id: '2', i: 2 },
    { _id: 'a:b', i: 3 },
  ])
  const [stale] = await versionsOf(tester)
  await update(tester, { query: byId('1'), update: { $set: { i: 1 } } })
  return { tester, current: await versionsOf(tester), stale: stale! }
}

type Operation = 'save' | 'update' | 'delete'

/** All three documents, each changed or deleted. */
const BODIES: Readonly<Record<Operation, JsonObject>> = {
  save: {
    data: [
      { _id: '1', i: 10 },
      { _id: '2', i: 10 },
      { _id: 'a:b', i: 10 },
    ],
  },
  update: { query: { $and: [] }, update: { $set: { i: 10 } } },
  delete: { query: { $and: [] } },
}

/** Which of the three are written, which are refused; or that the request is. */
interface Answer {
  readonly written: readonly number[]
  readonly refused: readonly number[]
}
type Expected = Answer | 'invalid'

const ALL: Answer = { written: [0, 1, 2], refused: [] }
const NONE: Answer = { written: [], refused: [] }
const REFUSED: Answer = { written: [], refused: [0, 1, 2] }

interface Row {
  readonly rule: string
  readonly condition: (stage: Stage) => JsonObject
  /** Of update and delete, which leave out what is not listed. */
  readonly expected: Expected
  /** Of save, to which every document that is not listed is an error. */
  readonly saved: Expected
}

const row = (
  rule: string,
  condition: Row['condition'],
  [expected, saved = expected]: [Expected, Expected?],
): Row => ({
  rule,
  condition,
  expected,
  saved,
})

const FIRST: Answer = { written: [0], refused: [] }
const FIRST_SAVED: Answer = { written: [0], refused: [1, 2] }
const STALE: Answer = { written: [], refused: [0] }

const ROWS: readonly Row[] = [
  row('no condition', () => ({}), [ALL]),
  row('nulls', () => ({ onlyIfCurrent: null, documentVersions: null }), [ALL]),
  row('the flag alone, false', () => ({ onlyIfCurrent: false }), [ALL]),
  row('the flag alone, true', () => ({ onlyIfCurrent: true }), ['invalid']),
  row('the flag with null', () => ({ onlyIfCurrent: true, documentVersions: null }), ['invalid']),
  row('versions alone', ({ current }) => ({ documentVersions: current }), [ALL]),
  row('flag and versions', ({ current }) => ({ onlyIfCurrent: true, documentVersions: current }), [ALL]),
  row('1 and versions', ({ current }) => ({ onlyIfCurrent: 1, documentVersions: current }), [ALL]),
  row('one listed', ({ current }) => ({ documentVersions: [current[0]!] }), [FIRST, FIRST_SAVED]),
  row('listed twice', ({ current }) => ({ documentVersions: [current[0]!, current[0]!] }), [
    FIRST,
    FIRST_SAVED,
  ]),
  row('stale', ({ stale }) => ({ documentVersions: [stale] }), [STALE, REFUSED]),
  row('stale, with the flag', ({ stale }) => ({ onlyIfCurrent: true, documentVersions: [stale] }), [
    STALE,
    REFUSED,
  ]),
  row('stale and lifted', ({ stale }) => ({ onlyIfCurrent: false, documentVersions: [stale] }), [ALL]),
  row('stale and lifted by 0', ({ stale }) => ({ onlyIfCurrent: 0, documentVersions: [stale] }), [ALL]),
  row(
    'stale beside current',
    ({ stale, current }) => ({ documentVersions: [stale, current[1]!, current[2]!] }),
    [{ written: [1, 2], refused: [0] }],
  ),
  row('another document', () => ({ documentVersions: ['nobody:1'] }), [NONE, REFUSED]),
  row('an empty list', () => ({ documentVersions: [] }), [NONE, REFUSED]),
  row('an empty list with the flag', () => ({ onlyIfCurrent: true, documentVersions: [] }), [NONE, REFUSED]),
  ...['zzz', '', '1', '1:', '1:abc', '1:5 ', '1:-5', `1:${'9'.repeat(17)}`, '1:0x5'].flatMap((text) => [
    row(`no version: ${JSON.stringify(text)}`, () => ({ documentVersions: [text] }), ['invalid']),
    row(
      `no version, and lifted: ${JSON.stringify(text)}`,
      ({ current }) => ({ onlyIfCurrent: false, documentVersions: [...current, text] }),
      ['invalid'],
    ),
  ]),
]

function run({ tester }: Stage, operation: Operation, body: JsonObject): Promise<DataResponse> {
  return tester.service.data[operation](ADMIN, { entity: tester.entity }, { ...BODIES[operation], ...body })
}

function check(operation: Operation, response: DataResponse, { written, refused }: Answer): void {
  const reported = written.length + refused.length
  const status = refused.length === 0 ? 'COMPLETE' : written.length === 0 ? 'ERROR' : 'PARTIAL'
  const matched = operation === 'save' ? 0 : reported
  assert.deepEqual(counts(response), [status, matched, written.length], printResponse(response))
  assert.deepEqual(
    dataErrorCodes(response),
    refused.map(() => ['store-crud:ConcurrentUpdate']),
  )
  assert.equal(response.errors, undefined)
}

/** What is left of the three documents: their numbers, or undefined for those that are gone. */
async function left({ tester }: Stage): Promise<readonly (Json | undefined)[]> {
  const documents = await held(tester)
  return ['1', '2', 'a:b'].map((id) => documents[id]?.['i'])
}

function expectedLeft(operation: Operation, { written }: Answer): readonly (Json | undefined)[] {
  return [1, 2, 3].map((i, at) => (written.includes(at) ? (operation === 'delete' ? undefined : 10) : i))
}

onEveryStore(() => {
  for (const operation of ['save', 'update', 'delete'] as const) {
    test(`${operation}: does what its condition says, whatever its form`, async () => {
      for (const { rule, condition, ...answers } of ROWS) {
        await using tenant = await stage()
        const expected = operation === 'save' ? answers.saved : answers.expected
        const response = await run(tenant.stage, operation, condition(tenant.stage))
        if (expected === 'invalid') assert.equal(codeOf(response), 'crud:InvalidRequest', rule)
        else check(operation, response, expected)
        const rest = expectedLeft(operation, expected === 'invalid' ? NONE : expected)
        assert.deepEqual(await left(tenant.stage), rest, `${operation}: ${rule}`)
      }
    })

    test(`${operation}: one stale version takes all back in an atomic request`, async () => {
      await using tenant = await stage()
      const { stale, current } = tenant.stage
      const body = { documentVersions: [stale, current[1]!, current[2]!], execution: { atomic: true } }
      const response = await run(tenant.stage, operation, body)
      assert.deepEqual(counts(response), ['ERROR', operation === 'save' ? 0 : 3, 0])
      assert.deepEqual(
        dataErrorCodes(response).flat().sort(),
        ['crud:Rolledback', 'crud:Rolledback', 'store-crud:ConcurrentUpdate'],
        printResponse(response),
      )
      assert.deepEqual(await left(tenant.stage), [1, 2, 3])
    })

    test(`${operation}: one document by its _id obeys the condition, too`, async () => {
      await using tenant = await stage()
      const { stale, current } = tenant.stage
      const one = operation === 'save' ? { data: { _id: '1', i: 10 } } : { query: byId('1') }
      const refused = await run(tenant.stage, operation, { ...one, documentVersions: [stale] })
      check(operation, refused, STALE)
      const done = await run(tenant.stage, operation, { ...one, documentVersions: [current[0]!] })
      check(operation, done, FIRST)
      assert.deepEqual(await left(tenant.stage), expectedLeft(operation, FIRST))
    })
  }

  test('delete: names the documents that changed, and nothing of a hidden _id', async () => {
    await using tester = await openTenant()
    const access = { find: ['boss'] }
    await tester.define(tester.entity, { _id: { type: 'string', access }, i: { type: 'integer' } })
    await tester.store(tester.entity, [{ _id: '1', i: 1 }])
    const clerk = callerWith('clerk')
    const find = await tester.find(tester.entity, { projection: EVERYTHING }, clerk)
    const { documentVersion } = JSON.parse(find.resultMetadata![0]!) as { documentVersion: string }
    assert.doesNotMatch(documentVersion, /^1:/)
    await update(tester, { query: { $and: [] }, update: { $set: { i: 2 } } })
    const body = { query: { $and: [] }, documentVersions: [documentVersion] }
    const { data } = tester.service
    const response = await data.delete(clerk, { entity: tester.entity }, body)
    assert.deepEqual(counts(response), ['ERROR', 1, 0])
    assert.equal(response.dataErrors![0]!.data, '{}')
    const again = await tester.find(tester.entity, { projection: EVERYTHING }, clerk)
    const now = (JSON.parse(again.resultMetadata![0]!) as { documentVersion: string }).documentVersion
    const gone = await data.delete(clerk, { entity: tester.entity }, { ...body, documentVersions: [now] })
    assert.deepEqual(counts(gone), ['COMPLETE', 1, 1])
  })

  test('save: with a condition, a document that is new is not inserted', async () => {
    await using tenant = await stage()
    const data = [{ _id: 'new', i: 10 }]
    for (const upsert of [true, false]) {
      const response = await run(tenant.stage, 'save', { data, upsert, documentVersions: [] })
      assert.deepEqual(dataErrorCodes(response), [['store-crud:ConcurrentUpdate']])
    }
    assert.deepEqual(Object.keys(await held(tenant.stage.tester)), ['1', '2', 'a:b'])
  })

  /** Which keys an operation would have to ignore. */
  const IGNORED: readonly (readonly [
    operation: 'find' | 'explain' | 'insert' | Operation,
    keys: readonly string[],
  ])[] = [
    ['find', ['data', 'update', 'documentVersions', 'onlyIfCurrent']],
    ['explain', ['data', 'update', 'documentVersions', 'onlyIfCurrent']],
    ['insert', ['query', 'update', 'documentVersions', 'onlyIfCurrent', 'asOf']],
    ['save', ['query', 'update', 'asOf']],
    ['update', ['data', 'asOf']],
    ['delete', ['data', 'update', 'asOf']],
  ]
  const SOUND: JsonObject = {
    query: { $and: [] },
    data: [{ i: 10 }],
    update: { $set: { i: 10 } },
    documentVersions: ['1:1'],
    onlyIfCurrent: true,
    asOf: '2024-01-01T00:00:00Z',
  }

  test('every operation: a key that it would ignore is refused, unless ignoring it changes nothing', async () => {
    await using tenant = await stage()
    const { tester } = tenant.stage
    const target = { entity: tester.entity }
    for (const [operation, keys] of IGNORED) {
      const own: Readonly<Record<string, JsonObject>> = {
        ...BODIES,
        find: { projection: EVERYTHING },
        explain: { projection: EVERYTHING },
        insert: { data: [] },
      }
      for (const key of keys) {
        const response = await tester.service.data[operation](ADMIN, target, {
          ...own[operation]!,
          [key]: SOUND[key]!,
        })
        assert.equal(codeOf(response), 'crud:InvalidRequest', `${operation} ${key}`)
        assert.match(response.errors![0]!.msg, new RegExp(`"${key}" has no meaning in .*at /${key}`))
      }
      const harmless = { upsert: true, projection: EVERYTHING, sort: { _id: '$asc' }, range: [0, 1] }
      const nulls = Object.fromEntries(keys.map((key) => [key, null]))
      const bodyOf = { ...own[operation]!, ...harmless, ...nulls }
      const fine = await tester.service.data[operation](ADMIN, target, bodyOf)
      assert.equal(fine.status, 'COMPLETE', `${operation} ${printResponse(fine)}`)
    }
  })

  test('generate: refuses the keys of other operations inside a bulk', async () => {
    await using tenant = await stage()
    const { tester } = tenant.stage
    for (const key of Object.keys(SOUND)) {
      const request = { entity: tester.entity, field: 'i', [key]: SOUND[key]! }
      const text = await tester.service.data.bulk(ADMIN, { requests: [{ seq: 0, op: 'generate', request }] })
      assert.match(text, new RegExp(`crud:InvalidRequest.*${key}`))
    }
  })
})

async function stage(): Promise<AsyncDisposable & { readonly stage: Stage }> {
  const opened = await open()
  return { stage: opened, [Symbol.asyncDispose]: () => opened.tester[Symbol.asyncDispose]() }
}
