/** The statements of a prepared find are written once, and bound to the arguments of each request. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { parameterized } from '../../../src/lang/parameters.ts'
import type { ReadPlan } from '../../../src/plan/plan.ts'
import { requestedId, withLiterals } from '../../../src/plan/plan-properties.ts'
import { planFind } from '../../../src/plan/read.ts'
import { resolveAndAuthorizeFind } from '../../../src/service/read/plan-find.ts'
import { bindFind, preparedFrom } from '../../../src/service/read/prepared/bind-find.ts'
import { preparedOnce } from '../../../src/service/read/prepared/prepared-finds.ts'
import { readFind } from '../../../src/service/request/request.ts'
import { argument, param, prepare, sql } from '../../../src/store/sql/fragment.ts'
import { bindRead, writtenOnce } from '../../../src/store/sql/prepared-statement.ts'
import { compiledSchema } from '../../support/schema.ts'
import { ADMIN, EVERYTHING } from '../../support/service.ts'

const SCHEMA = compiledSchema('thing', { code: { type: 'string' }, n: { type: 'integer' } })

/** A find prepared from its first request, bound to other literals. */
function planWith(query: Json, literals: readonly Json[]): ReadPlan | undefined {
  const deps = { schemaOf: () => SCHEMA, limits: DEFAULT_LIMITS, now: () => new Date() }
  const request = readFind({ query, projection: EVERYTHING }, { entity: 'thing' }, deps)
  const parameters = parameterized(request.query!)
  const allowed = resolveAndAuthorizeFind(deps, ADMIN, { ...request, query: parameters.query })
  const find = { allowed, plan: planFind(allowed, () => true), maxTimeMs: undefined }
  const prepared = preparedFrom(find, parameters.literals.length)!
  return bindFind(prepared, { literals })?.plan.read
}

const BY_CODE = { field: 'code', op: '=', rvalue: 'a' }
const BY_LIST = { field: 'n', op: '$in', values: [1, 2] }

test('prepared find: literals are cast as the type of their field', () => {
  const both = { $and: [BY_CODE, BY_LIST] }
  assert.deepEqual(planWith(both, [5, ['7', 8]])?.arguments, ['5', [7, 8]])
  assert.equal(planWith(both, ['b', [1, 'x']]), undefined)
  assert.equal(planWith(BY_LIST, [[1, true]]), undefined)
})

test('prepared find: its plan with literals is the plan of the request', () => {
  const { query } = withLiterals(planWith({ $not: BY_LIST }, [[3]])!)
  assert.ok(query?.kind === 'not' && query.term.kind === 'in')
  assert.deepEqual(query.term.values, [3])
  assert.equal(requestedId(planWith({ field: '_id', op: '=', rvalue: 'a' }, ['b'])!), 'b')
})

test('prepared find: from the second request of a shape on', () => {
  let count = 0
  const find = (caller = ADMIN, key = 'k') =>
    preparedOnce({ metadata: SCHEMA, caller, key }, () => {
      count++
      return key === 'unfit' ? undefined : { find: { plan: count } as never, parameters: [] }
    })
  assert.equal(find(), undefined)
  const prepared = find()
  assert.ok(prepared)
  assert.equal(find(), prepared)
  assert.equal(count, 1)
  assert.equal(find({ ...ADMIN }), undefined, 'another caller')
  for (let i = 0; i < 3; i++) assert.equal(find(ADMIN, 'unfit'), undefined)
  assert.equal(count, 2)
})

test('prepared find: the cache counts the key of a shape once', () => {
  const metadata = {}
  const find = (key: string) =>
    preparedOnce({ metadata, caller: ADMIN, key }, () => ({ find: {} as never, parameters: [] }))
  const keys = Array.from({ length: 48 }, (_, i) => `${i}`.padEnd(10_000))
  for (const key of keys) find(key)
  for (const key of keys)
    assert.ok(find(key), `the cache has room for 50 keys, but not for key ${key.trim()}`)
})

test('prepared statement: one text for all arguments, written once for each page and table', () => {
  let written = 0
  const statements = writtenOnce((plan: ReadPlan, _table: object) => {
    written++
    const text = sql`select ${param(plan.from)} where a = ${argument(0, (value) => `<${value as string}>`)}`
    const page = prepare(text, (n) => `$${n}`)
    return { page, count: () => page }
  })
  const plan = planWith(BY_CODE, ['a'])!
  const [table, other] = [{}, {}]
  const read = (of: ReadPlan, on: object = table) => bindRead(statements(of, on), of)
  const text = 'select $1 where a = $2'
  assert.deepEqual(read(plan).page, { text, values: [0, '<a>'] })
  assert.deepEqual(read({ ...plan, arguments: ['b'] }).page, { text, values: [0, '<b>'] })
  assert.deepEqual(read({ ...plan, arguments: ['c'] }).count(), { text, values: [0, '<c>'] })
  assert.equal(written, 1)
  assert.deepEqual(read({ ...plan, from: 5 }).page.values, [5, '<a>'])
  read(plan, other)
  assert.equal(written, 3)
  const { arguments: _, ...unbound } = plan
  assert.throws(() => read(unbound), /parameter 0 has no value/)
})
