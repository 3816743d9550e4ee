/** Properties of the language's own parts: limits, canonical form, and what explain says a projection can let out. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../../src/base/errors.ts'
import { type Json, type JsonObject, isArray, isObject } from '../../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { parseProjection } from '../../../src/lang/parse/parse-projection.ts'
import { parseQuery } from '../../../src/lang/parse/parse-query.ts'
import { compileProjection } from '../../../src/lang/evaluate/project.ts'
import { printProjection } from '../../../src/lang/projection.ts'
import { printQuery } from '../../../src/lang/query.ts'
import { compileIncludes } from '../../../src/lang/resolve/projected-fields.ts'
import { resolveProjection, resolveQuery } from '../../../src/lang/resolve/resolve.ts'
import { rootScope } from '../../../src/lang/resolve/scope.ts'
import { parseSort, printSort } from '../../../src/lang/sort.ts'
import type { Schema } from '../../../src/schema/schema.ts'
import { allFields } from '../../../src/schema/schema.ts'
import { sample } from '../../support/chance.ts'
import { makeDocuments, makeSchema } from '../../property/agreement/make-documents.ts'
import { makeRequest } from '../../property/agreement/make-requests.ts'
import { printFields, withPredefined } from '../../property/agreement/model.ts'
import { compiledSchema } from '../../support/schema.ts'

function refused(work: () => unknown, code: string, place: string): void {
  assert.throws(work, (error) => {
    assert.ok(error instanceof ServiceError)
    assert.equal(error.code, code)
    assert.ok(error.message.endsWith(`(at ${place})`), error.message)
    return true
  })
}

const ATOM = { field: 'i', op: '=', rvalue: 1 }

test('parseQuery: a query has at most so many parts', () => {
  const limits = { ...DEFAULT_LIMITS, queryNodes: 3 }
  assert.equal(parseQuery({ $and: [ATOM, ATOM] }, '/query', limits).kind, 'and')
  refused(
    () => parseQuery({ $and: [ATOM, { $not: ATOM }] }, '/query', limits),
    'crud:LimitExceeded',
    '/query/$and/1/$not',
  )
})

test('parseQuery: a list has at most so many values', () => {
  const limits = { ...DEFAULT_LIMITS, inValues: 2 }
  const listed = (values: Json): Json => ({ field: 'i', op: '$in', values })
  assert.equal(parseQuery(listed([1, 2]), '', limits).kind, 'in')
  refused(() => parseQuery(listed([1, 2, 3]), '', limits), 'crud:LimitExceeded', '/values')
  refused(
    () => parseQuery({ array: 'a', contains: '$any', values: [1, 2, 3] }, '', limits),
    'crud:LimitExceeded',
    '/values',
  )
})

test('parseQuery: names that every object answers to are no operators', () => {
  for (const op of ['toString', 'constructor', '__proto__', 'hasOwnProperty']) {
    refused(
      () => parseQuery({ field: 'i', op, rvalue: 1 }, '', DEFAULT_LIMITS),
      'query-api:InvalidQuery',
      '/op',
    )
  }
})

test('printQuery: uses one spelling for each operator', () => {
  const spelled: readonly (readonly [string, string])[] = [
    ['=', '$eq'],
    ['!=', '$neq'],
    ['$ne', '$neq'],
    ['<', '$lt'],
    ['>', '$gt'],
    ['<=', '$lte'],
    ['>=', '$gte'],
  ]
  for (const [op, canonical] of spelled) {
    const query = parseQuery({ $all: [{ $any: [{ field: 'i', op, rvalue: 1 }] }] }, '', DEFAULT_LIMITS)
    assert.deepEqual(printQuery(query), { $and: [{ $or: [{ field: 'i', op: canonical, rvalue: 1 }] }] })
  }
  const regex = parseQuery({ field: 's', regex: 'a', options: 'i', dotall: false }, '', DEFAULT_LIMITS)
  assert.deepEqual(printQuery(regex), { field: 's', regex: 'a', caseInsensitive: true })
})

interface Sampled {
  readonly schema: Schema
  readonly request: JsonObject
  readonly documents: readonly JsonObject[]
}

/** Random requests with the schemas they are for. */
function* samples(count: number): Generator<Sampled> {
  for (let seed = 1; seed <= count; seed++) {
    const declared = sample(seed, makeSchema)
    const request = sample(seed, (chance) => makeRequest(chance, withPredefined(declared)))
    const documents = sample(seed, (chance) => makeDocuments(chance, declared, 5))
    yield { schema: compiledSchema('t', printFields(declared)), request, documents }
  }
}

test('print: what is printed is parsed to the same again', () => {
  for (const { schema, request } of samples(300)) {
    const scope = rootScope(schema)
    const { query, projection, sort } = request
    if (query) {
      const printed = printQuery(resolveQuery(parseQuery(query, '', DEFAULT_LIMITS), scope))
      const again = printQuery(resolveQuery(parseQuery(printed, '', DEFAULT_LIMITS), scope))
      assert.deepEqual(again, printed)
    }
    if (sort)
      assert.deepEqual(
        printSort(parseSort(printSort(parseSort(sort, '')), '')),
        printSort(parseSort(sort, '')),
      )
    const resolved = resolveProjection(parseProjection(projection!, ''), scope)
    const again = printProjection(resolveProjection(parseProjection(printProjection(resolved), ''), scope))
    assert.deepEqual(again, printProjection(resolved))
  }
})

test('includes: every field that comes out of a projection is one that it can let out', () => {
  let seen = 0
  for (const { schema, request, documents } of samples(300)) {
    const projection = resolveProjection(parseProjection(request['projection']!, ''), rootScope(schema))
    const projector = compileProjection(projection, schema.root)
    const reachable = new Set(
      [...allFields(schema.root.fields)].filter(compileIncludes(projection)).map(({ path }) => path),
    )
    for (const document of documents) {
      for (const path of scalarPaths(projector(document, 'v'), '')) {
        const field = [...allFields(schema.root.fields)].find((each) => each.path === path)
        // Elements of arrays are reported as their array; content of any as the field that contains it.
        if (field?.kind !== 'simple' || field.type.name === 'any') continue
        seen++
        assert.ok(reachable.has(path), `${path} by ${JSON.stringify(request['projection'])}`)
      }
    }
  }
  assert.ok(seen > 1000)
})

function* scalarPaths(value: Json, path: string): Generator<string> {
  if (isArray(value)) for (const each of value) yield* scalarPaths(each, `${path}.*`)
  else if (isObject(value)) {
    for (const [name, each] of Object.entries(value))
      yield* scalarPaths(each, path === '' ? name : `${path}.${name}`)
  } else yield path
}
