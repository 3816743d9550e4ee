/**
 * Every loop over the elements of an array can be cancelled, and is paid for, when a statement is watched; so can the loop over
 * rows, but not at every row that is read from columns.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { parseQuery } from '../../../src/lang/parse/parse-query.ts'
import { parseSort } from '../../../src/lang/sort.ts'
import { resolveQuery, resolveSort } from '../../../src/lang/resolve/resolve.ts'
import { rootScope } from '../../../src/lang/resolve/scope.ts'
import type { ReadPlan } from '../../../src/plan/plan.ts'
import { columnOf } from '../../../src/store/layout/columns.ts'
import { prepare } from '../../../src/store/sql/fragment.ts'
import { where } from '../../../src/store/sql/where.ts'
import type { Table } from '../../../src/store/sqlite/catalogue.ts'
import { readStatements } from '../../../src/store/sqlite/read/reads.ts'
import { beginStatement, translation } from '../../../src/store/sqlite/read/translate.ts'
import { watch } from '../../../src/store/sqlite/read/watch.ts'
import { compiledSchema } from '../../support/schema.ts'

const TEXTS = { type: 'array', items: { type: 'string' } }
const SCHEMA = compiledSchema('thing', {
  code: { type: 'string' },
  other: { type: 'string' },
  tags: TEXTS,
  words: TEXTS,
  jobs: { type: 'array', items: { type: 'object', fields: { title: { type: 'string' }, skills: TEXTS } } },
})

const NONE = new Map<never, never>()
const TABLE: Table = {
  no: 1,
  name: 'docs_1',
  entity: 'thing',
  columns: [],
  isEarlier: false,
  wordIndexes: new Map(),
  wordTables: new Map(),
  indexes: NONE,
  firsts: new Set(),
  ordered: new Set(),
  folded: new Set(),
  arrays: [],
  elements: NONE,
  foldedElements: NONE,
  beside: () => undefined,
}

const QUERIES: readonly Json[] = [
  { field: 'tags.*', op: '=', rvalue: 'a' },
  { field: 'tags.*', op: '!=', rvalue: 'a' },
  { field: 'tags.*', op: '=', rvalue: null },
  { field: 'jobs.*.skills.*', op: '<', rvalue: 'a' },
  { field: 'tags.*', op: '$in', values: ['a', null] },
  { field: 'tags.*', regex: '^a' },
  { field: 'code', op: '=', rfield: 'tags.*' },
  { field: 'tags', op: '=', rfield: 'words' },
  { field: 'code', op: '$in', rfield: 'tags' },
  { array: 'tags', contains: '$any', values: ['a', null] },
  { array: 'tags', contains: '$all', values: ['a', 'b', null] },
  { array: 'jobs', elemMatch: { field: 'skills.*', op: '=', rvalue: 'a' } },
]

for (const query of QUERIES) {
  test(`watched statement: every loop of ${JSON.stringify(query)} checks that the caller still waits`, () => {
    const resolved = resolveQuery(parseQuery(query, 'query', DEFAULT_LIMITS), rootScope(SCHEMA))
    for (const isWatched of [true, false]) {
      const { text } = prepare(where(resolved, translation(TABLE, beginStatement(isWatched))), () => '?')
      const loops = text.match(/\(select (?:1|count\([^)]*\)+) from json_each\(/g) ?? []
      assert.ok(loops.length > 0, text)
      assert.equal(text.match(/where smalt_alive\(/g)?.length ?? 0, isWatched ? loops.length : 0, text)
    }
  })
}

const WITH_CODE: Table = {
  ...TABLE,
  columns: [columnOf({ path: 'code', kind: 'text' }, { no: 1, isFilled: true })],
}
const IS_A = { field: 'code', op: '=', rvalue: 'a' }

/** Whether the statement checks at some of the rows only. */
const WATCHED: readonly (readonly [query: Json | undefined, sort: Json, isLight: boolean])[] = [
  [IS_A, [], true],
  [IS_A, { code: '$asc' }, true],
  [{ $and: [IS_A, { $not: { field: 'code', op: '$in', values: ['b', null] } }] }, [], true],
  [undefined, [], true],
  [undefined, { other: '$asc' }, false],
  [IS_A, { other: '$asc' }, false],
  [{ field: 'other', op: '=', rvalue: 'a' }, [], false],
  [{ $or: [IS_A, { field: 'other', op: '=', rvalue: 'a' }] }, [], false],
  [{ field: 'code', regex: '^a' }, [], false],
  [{ field: 'tags.*', op: '=', rvalue: 'a' }, [], false],
  [{ field: 'code', op: '=', rfield: 'other' }, [], false],
]

for (const [query, sort, isLight] of WATCHED) {
  test(`watched statement: rows of ${JSON.stringify(query)} sorted by ${JSON.stringify(sort)}`, () => {
    const scope = rootScope(SCHEMA)
    const plan = {
      ...(query !== undefined && { query: resolveQuery(parseQuery(query, 'query', DEFAULT_LIMITS), scope) }),
      sort: resolveSort(parseSort(sort, ''), scope),
    }
    const textOf = (table: Table): string => prepare(watch(plan, table), () => '?').text
    const light = '((no & 63) <> 63 or smalt_alive(no))'
    assert.equal(textOf(WITH_CODE), isLight ? light : 'smalt_alive(no)')
    const readsNothing = query === undefined && plan.sort.length === 0
    assert.equal(textOf(TABLE), readsNothing ? light : 'smalt_alive(no)')
  })
}

test('watched statement: a count of everything has no condition, which would make it many times as slow', () => {
  const { collection } = SCHEMA
  const plan = { collection, sort: [], from: 0, to: 9, counted: true, idType: 'string' } as const
  const counted = (more: Partial<ReadPlan>): string =>
    readStatements({ ...plan, ...more }, TABLE, true).count().text
  assert.equal(counted({}), 'select count(*) from docs_1')
  const query = resolveQuery(parseQuery(IS_A, 'query', DEFAULT_LIMITS), rootScope(SCHEMA))
  assert.match(counted({ query }), / where smalt_alive\(no\) and /)
})
