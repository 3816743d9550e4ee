/** Documents with many faults: so many are told, the last of them says that there are more, and none is left out. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import type { DataResponse } from '../../../src/service/response.ts'
import { callerWith, openTestService } from '../../support/service.ts'

const BOSS = { find: ['anyone'], insert: ['boss'], update: ['boss'] }
const FIELDS = {
  numbers: { type: 'array', items: { type: 'integer' } },
  lines: {
    type: 'array',
    items: {
      type: 'object',
      fields: {
        text: { type: 'string' },
        secret: { type: 'string', access: BOSS },
        part: { type: 'object', access: BOSS, fields: { a: { type: 'string' }, b: { type: 'string' } } },
      },
    },
  },
}
const WORKER = callerWith('worker')

function wrongNumbers(count: number): JsonObject {
  return { numbers: Array.from({ length: count }, () => 'x') }
}

function codesOf(response: DataResponse): readonly (readonly string[])[] {
  return (response.dataErrors ?? []).map(({ errors }) => errors.map(({ errorCode }) => errorCode))
}

test('faults: a hundred are told, of a hundred and one the last says that there are more', async () => {
  await using tester = await openTestService()
  await tester.define('t', FIELDS)
  const response = await tester.insert('t', { data: [wrongNumbers(100), wrongNumbers(101)] })
  const [all, some] = codesOf(response)
  assert.deepEqual(new Set(all), new Set(['metadata:IncompatibleValue']))
  assert.equal(all!.length, 100)
  assert.equal(some!.length, 100)
  assert.equal(some![98], 'metadata:IncompatibleValue')
  assert.equal(some![99], 'crud:LimitExceeded')
  assert.match(response.dataErrors![1]!.errors[99]!.msg, /more faults than these 99/)
  assert.match(response.dataErrors![1]!.errors[99]!.context, /^insert\(t:1\.0\.0\)$/)
})

test('faults: how many are told can be configured', async () => {
  await using tester = await openTestService({ limits: { faults: 3 } })
  await tester.define('t', FIELDS)
  const codes = codesOf(await tester.insert('t', { data: [wrongNumbers(3), wrongNumbers(9)] }))
  assert.deepEqual(
    codes.map((each) => [each.length, each.at(-1)]),
    [
      [3, 'metadata:IncompatibleValue'],
      [3, 'crud:LimitExceeded'],
    ],
  )
})

test('faults: unknown fields, missing values, and what may not be inserted count together', async () => {
  await using tester = await openTestService({ limits: { faults: 5 } })
  await tester.define('t', FIELDS)
  const lines = Array.from({ length: 4 }, () => ({ secret: 'x' }))
  const data = { ...wrongNumbers(3), lines }
  const [codes] = codesOf(await tester.insert('t', { data }, WORKER))
  assert.deepEqual(codes, [
    'metadata:IncompatibleValue',
    'metadata:IncompatibleValue',
    'metadata:IncompatibleValue',
    'crud:insert:NoFieldAccess',
    'crud:LimitExceeded',
  ])
  const exactly = { ...wrongNumbers(3), lines: lines.slice(0, 2) }
  const [all] = codesOf(await tester.insert('t', { data: exactly }, WORKER))
  assert.deepEqual(all!.slice(3), ['crud:insert:NoFieldAccess', 'crud:insert:NoFieldAccess'])
})

test('faults: a denied container stands for what is in it, also beside others', async () => {
  await using tester = await openTestService()
  await tester.define('t', FIELDS)
  const lines = [{ part: { a: 'x', b: 'y' }, secret: 'x' }, { text: 'x' }, { part: { a: 'z' } }]
  const response = await tester.insert('t', { data: { lines } }, WORKER)
  assert.deepEqual(
    response.dataErrors![0]!.errors.map(({ context }) => context.split('/')[1]),
    ['lines.0.part', 'lines.0.secret', 'lines.2.part'],
  )
})

test('faults: save and update are held to the same', async () => {
  await using tester = await openTestService({ limits: { faults: 4 } })
  await tester.define('t', {
    ...FIELDS,
    limited: { type: 'array', items: { type: 'string', constraints: { maxLength: 1 } } },
  })
  await tester.store('t', { _id: 'a' })
  const wrong = { _id: 'a', ...wrongNumbers(9) }
  const saved = await tester.service.data.save(WORKER, { entity: 't' }, { data: [wrong], upsert: true })
  assert.deepEqual(codesOf(saved)[0]!.length, 4)
  const updated = await tester.service.data.update(
    WORKER,
    { entity: 't' },
    {
      query: { field: '_id', op: '=', rvalue: 'a' },
      update: { $set: { limited: ['xx', 'xx', 'xx', 'xx', 'xx'] } },
    },
  )
  assert.deepEqual(codesOf(updated), [['crud:TooLong', 'crud:TooLong', 'crud:TooLong', 'crud:LimitExceeded']])
})

test('faults: of many faulty documents each is told of, those after the first hundred by one entry', async () => {
  await using tester = await openTestService({ limits: { faults: 2 } })
  await tester.define('t', FIELDS)
  const data = Array.from({ length: 150 }, (_, i) => wrongNumbers(i === 149 ? 1 : 9))
  const response = await tester.insert('t', { data })
  const codes = codesOf(response)
  assert.equal(response.status, 'ERROR')
  assert.equal(codes.length, 150)
  assert.deepEqual(codes[99], ['metadata:IncompatibleValue', 'crud:LimitExceeded'])
  assert.deepEqual(codes[100], ['crud:LimitExceeded'])
  assert.deepEqual(codes[149], ['metadata:IncompatibleValue'])
})

test('faults: a refusal to change many values names ten and counts the others', async () => {
  await using tester = await openTestService()
  await tester.define('t', FIELDS)
  const lines = (text: string): Json => Array.from({ length: 30 }, (_, i) => ({ text: `${i}`, secret: text }))
  await tester.insert('t', { data: { _id: 'a', lines: lines('old') } }, callerWith('boss'))
  const update = await tester.service.data.update(
    WORKER,
    { entity: 't' },
    {
      query: { field: '_id', op: '=', rvalue: 'a' },
      update: { $set: { lines: lines('new') } },
    },
  )
  const [error] = update.dataErrors![0]!.errors
  assert.equal(error!.errorCode, 'crud:update:NoFieldAccess')
  assert.match(error!.msg, /^you may not change "lines\.0\.secret", .*"lines\.9\.secret" and 20 more$/)
})

test('faults: a document of a million wrong values is told of as any other', async () => {
  await using tester = await openTestService()
  await tester.define('t', FIELDS)
  const response = await tester.insert('t', { data: wrongNumbers(1_000_000) })
  assert.equal(codesOf(response)[0]!.length, 100)
})
