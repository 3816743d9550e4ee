/** What names mean that lead through references, asked of the evaluator; and what they cannot mean. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Code, ServiceError } from '../../../src/base/errors.ts'
import type { Json } from '../../../src/base/json/json.ts'
import { printQuery } from '../../../src/lang/query.ts'
import { resolveProjection, resolveSort } from '../../../src/lang/resolve/resolve.ts'
import { parseProjection } from '../../../src/lang/parse/parse-projection.ts'
import { parseSort } from '../../../src/lang/sort.ts'
import type { Schema } from '../../../src/schema/schema.ts'
import { createEvaluator } from '../../support/references-evaluator.ts'
import { compiledSchema } from '../../support/schema.ts'
import { CUSTOMERS, REFUSALS, is } from './references-cases.ts'
import { DOCUMENTS, EVALUATOR } from './references-fixture.ts'

for (const [rule, query, ids] of CUSTOMERS) {
  test(`query across references: ${rule}`, () => {
    assert.deepEqual(
      EVALUATOR.matching('customer', query).map(({ _id }) => _id),
      ids,
    )
  })
}

test('query across references: what is printed of a clause leads through the reference', () => {
  const printed = JSON.stringify(printQuery(EVALUATOR.resolve('customer', is('orders.*.total', 5))))
  assert.ok(printed.includes('orders'), printed)
})

function refused(work: () => unknown, code: Code, place: string): void {
  assert.throws(work, (error) => {
    assert.ok(error instanceof ServiceError, String(error))
    assert.equal(error.code, code, error.message)
    assert.ok(error.message.endsWith(`(at ${place})`), error.message)
    return true
  })
}

for (const [rule, query, code, at] of REFUSALS) {
  test(`query across references: refuses ${rule}`, () => {
    refused(() => EVALUATOR.resolve('customer', query), code, `/query${at}`)
  })
}

test('query across references: as many as are allowed one from the other are followed', () => {
  const path = `${'neighbours.*.'.repeat(5)}_id`
  assert.deepEqual(
    EVALUATOR.matching('customer', is(path, 'bob')).map(({ _id }) => _id),
    ['ann'],
  )
})

for (const [entity, sort, ids] of [
  ['order', { 'buyer.*.name': '$desc' }, ['o3', 'o1', 'o2', 'o4']],
  ['order', { 'buyer.*.score': '$asc' }, ['o4', 'o3', 'o1', 'o2']],
  ['order', [{ 'buyer.*.wanted.*': '$asc' }, { total: '$desc' }], ['o3', 'o4', 'o1', 'o2']],
  ['order', [{ 'buyer.*.orders#': '$desc' }, { total: '$asc' }], ['o2', 'o1', 'o3', 'o4']],
  ['order', { 'offered#': '$desc' }, ['o1', 'o2', 'o3', 'o4']],
  ['customer', [{ 'orders#': '$asc' }, { _id: '$desc' }], ['dan', 'cid', 'bob', 'ann']],
  // Without the object that holds it, a reference has no number of documents.
  ['customer', [{ 'home.deliveries#': '$asc' }, { _id: '$asc' }], ['cid', 'dan', 'ann', 'bob']],
] as const) {
  test(`sort across references: ${entity} by ${JSON.stringify(sort)}`, () => {
    const sorted = EVALUATOR.inOrder(entity, DOCUMENTS[entity]!, parseSort(sort, '/sort'))
    assert.deepEqual(
      sorted.map(({ _id }) => _id),
      ids,
    )
  })
}

test('sort: refuses to lead through a reference that may join several documents', () => {
  for (const path of [
    'orders.*.total',
    'home.deliveries.*.total',
    'visits.*.bought#',
    'neighbours.*.orders.*.total',
  ]) {
    const sort = (): unknown =>
      resolveSort(parseSort({ [path]: '$asc' }, '/sort'), EVALUATOR.scopeOf('customer'))
    assert.throws(
      sort,
      (error) => error instanceof ServiceError && error.message.endsWith(`(at /sort/${path})`),
    )
  }
})

test('query across references: one version of an entity is seen in one request', () => {
  const reference = (entity: string, versionValue?: string): Json => ({
    type: 'reference',
    entity,
    ...(versionValue !== undefined && { versionValue }),
  })
  const versions = new Map<string, Schema>()
  for (const version of ['1.0.0', '2.0.0']) {
    for (const entity of ['a', 'b']) {
      const fields = {
        x: { type: 'string' },
        own: reference('a'),
        first: reference('b', '1.0.0'),
        second: reference('b', '2.0.0'),
        any: reference('b'),
        older: reference('a', '1.0.0'),
        newer: reference('a', '2.0.0'),
      }
      const schema = { version: { value: version, changelog: 'made' } }
      versions.set(`${entity} ${version}`, compiledSchema(entity, fields, { schema }))
    }
  }
  const { resolve } = createEvaluator({
    schemaOf: (entity, version = '1.0.0') => versions.get(`${entity} ${version}`)!,
    documentsOf: () => [],
  })
  const twice = 'crud:MetadataAppearsTwice'
  for (const path of ['own.*.x', 'older.*.x', 'first.*.any.*.x', 'second.*.any.*.x', 'any.*.first.*.x']) {
    assert.equal(resolve('a', is(path, 'x')).kind, 'related', path)
  }
  refused(() => resolve('a', is('newer.*.x', 'x')), twice, '/query/field')
  refused(() => resolve('a', is('first.*.second.*.x', 'x')), twice, '/query/field')
  const both = { $and: [is('second.*.x', 'x'), is('any.*.first.*.x', 'x')] }
  refused(() => resolve('a', both), twice, '/query/$and/1/field')
})

test('projection: a reference that is not followed is no array', () => {
  const project = (body: Json): unknown =>
    resolveProjection(parseProjection(body, '/projection'), { here: EVALUATOR.scopeOf('customer').here })
  assert.throws(() => project({ field: 'orders', range: [0, 1] }), ServiceError)
})
