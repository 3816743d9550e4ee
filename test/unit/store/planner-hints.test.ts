/** Which conditions on other documents an index of SQLite serves, which decides the direction of a join. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { parseQuery } from '../../../src/lang/parse/parse-query.ts'
import { resolveQuery } from '../../../src/lang/resolve/resolve.ts'
import { rootScope } from '../../../src/lang/resolve/scope.ts'
import type { Table } from '../../../src/store/sqlite/catalogue.ts'
import { isServed } from '../../../src/store/sqlite/read/planner-hints.ts'
import { compiledSchema } from '../../support/schema.ts'

const SCHEMA = compiledSchema('thing', {
  code: { type: 'string' },
  name: { type: 'string' },
  tags: { type: 'array', items: { type: 'string' } },
  words: { type: 'array', items: { type: 'string' } },
  jobs: { type: 'array', items: { type: 'object', fields: { title: { type: 'string' } } } },
})

const TABLE: Table = {
  no: 1,
  name: 'docs_1',
  entity: 'thing',
  columns: [],
  isEarlier: false,
  wordIndexes: new Map(),
  wordTables: new Map(),
  indexes: new Map(),
  firsts: new Set(['code']),
  ordered: new Set(['code']),
  folded: new Set(['name']),
  arrays: [],
  elements: new Map([
    ['tags.*', { name: 'elements_1', reading: 'string' }],
    ['jobs.*.title', { name: 'elements_2', reading: 'string' }],
  ]),
  foldedElements: new Map([['words.*', 'elements_3']]),
  beside: () => undefined,
}

const TITLE = { field: 'title', op: '=', rvalue: 'a' }

const CASES: readonly (readonly [query: Json, isServed: boolean])[] = [
  ...['code', '_id', 'tags.*'].flatMap((field): (readonly [Json, boolean])[] => [
    [{ field, op: '=', rvalue: 'a' }, true],
    [{ field, op: '>=', rvalue: 'a' }, true],
    [{ field, op: '!=', rvalue: 'a' }, false],
    [{ field, op: '!=', rvalue: null }, false],
    [{ field, op: '$in', values: ['a', 'b'] }, true],
    [{ field, op: '$nin', values: ['a', 'b'] }, false],
    [{ field, regex: '^a' }, true],
    [{ field, regex: 'a' }, false],
    [{ field, regex: '^a', caseInsensitive: true }, false],
  ]),
  [{ field: 'code', op: '=', rvalue: null }, true],
  // An index that ignores case finds the candidates, whose case is compared afterwards.
  [{ field: 'name', op: '=', rvalue: 'a' }, true],
  [{ field: 'name', op: '>=', rvalue: 'a' }, false],
  [{ field: 'name', regex: '^a', caseInsensitive: true }, true],
  // The index of an array lacks the documents without the array.
  [{ field: 'tags.*', op: '=', rvalue: null }, false],
  [{ field: 'tags.*', op: '$in', values: ['a', null] }, false],
  [{ field: 'tags.0', op: '=', rvalue: 'a' }, false],
  [{ field: 'words.*', op: '=', rvalue: 'a' }, true],
  [{ field: 'words.*', op: '<', rvalue: 'a' }, false],
  [{ field: 'words.*', regex: '^a', caseInsensitive: true }, true],
  [{ array: 'tags', contains: '$any', values: ['a'] }, true],
  [{ array: 'tags', contains: '$any', values: ['a', null] }, false],
  [{ array: 'tags', contains: '$all', values: ['a', null] }, true],
  [{ array: 'tags', contains: '$all', values: [null] }, false],
  [{ array: 'tags', contains: '$none', values: ['a'] }, false],
  [{ array: 'jobs', elemMatch: TITLE }, true],
  [{ array: 'jobs', elemMatch: { ...TITLE, op: '<' } }, true],
  [{ array: 'jobs', elemMatch: { ...TITLE, op: '!=' } }, false],
  [{ array: 'jobs', elemMatch: { ...TITLE, rvalue: null } }, false],
  [{ array: 'jobs', elemMatch: { $and: [{ ...TITLE, op: '!=' }, TITLE] } }, true],
  [{ array: 'jobs', elemMatch: { $not: TITLE } }, false],
]

for (const [query, expected] of CASES) {
  test(`planner hints: ${expected ? 'an' : 'no'} index serves ${JSON.stringify(query)}`, () => {
    const parsed = parseQuery(query, 'query', DEFAULT_LIMITS)
    assert.equal(isServed(resolveQuery(parsed, rootScope(SCHEMA)), TABLE), expected)
  })
}
