/** Which columns a table has, and what they hold of a document. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IndexDefinition } from '../../../src/schema/schema.ts'
import type { TypeName } from '../../../src/schema/types.ts'
import {
  type Column,
  type ColumnKind,
  MAX_CHARACTERS,
  MAX_COLUMNS,
  columnFinder,
  columnOf,
  columnsFor,
} from '../../../src/store/layout/columns.ts'
import { RULES } from '../../../src/store/postgres/schema/columns.ts'
import { columnsToWrite, valueOfColumn } from '../../../src/store/layout/values.ts'
import { jsonObject } from '../../support/service.ts'

const index = (...fields: readonly (readonly [path: string, type: TypeName])[]): IndexDefinition => ({
  unique: false,
  fields: fields.map(([path, type]) => ({ path, type, descending: false, caseInsensitive: false })),
})

const CHOSEN: readonly (readonly [
  name: string,
  paths: readonly string[],
  indexes: readonly IndexDefinition[],
  columns: readonly string[],
])[] = [
  ['nothing is known', ['a', 'b.c'], [], []],
  [
    'simple fields by their forms',
    ['a', '$text.a', '$number.n', '$big.d', '$boolean.b', '$any.x', '$object.o', '$text.o.y'],
    [],
    ['text a', 'number n', 'number d', 'boolean b', 'text o.y'],
  ],
  [
    'nothing inside of arrays',
    ['$array.l', '$text.l.*', '$object.m.*', '$text.m.*.n', '$number.l#'],
    [],
    ['json l', 'number l#'],
  ],
  ['a text id is the key, a number is not', ['$text._id', '$number._id'], [], ['number _id']],
  [
    'integers and doubles of one path as big numbers, too, which are numbers here',
    ['$number.a', '$integer.a', '$double.b', '$number.b', '$double.a'],
    [],
    ['number a', 'number b'],
  ],
  ['one column for each kind', ['$text.a', '$number.a', '$big.a'], [], ['text a', 'number a']],
  ['fields of indexes come first', ['$text.a', '$text.b'], [index(['b', 'string'])], ['text b', 'text a']],
  [
    'an index without a recorded form',
    ['a'],
    [index(['a', 'date'], ['n', 'double'])],
    ['text a', 'number n'],
  ],
  ['an index into an array needs the member', [], [index(['l.*', 'string'])], ['json l']],
]

for (const [name, paths, indexes, columns] of CHOSEN) {
  test(`layout: ${name}`, () => {
    assert.deepEqual(
      columnsFor({ paths, indexes }, RULES).map(({ kind, path }) => `${kind} ${path}`),
      columns,
    )
  })
}

test('layout: fields of indexes have columns however many there are, others up to a number', () => {
  const paths = Array.from({ length: 200 }, (_, i) => `$text.f${i}`)
  const indexes = [index(...Array.from({ length: 5 }, (_, i) => [`f${190 + i}`, 'string'] as const))]
  const columns = columnsFor({ paths, indexes }, RULES)
  assert.equal(columns.length, MAX_COLUMNS + 5)
  assert.equal(columns[4]!.path, 'f194')
})

const LONG = 'x'.repeat(MAX_CHARACTERS)
const CLEFS = '\u{1d11e}'.repeat(MAX_CHARACTERS)

const HELD: readonly (readonly [document: string, kind: ColumnKind, path: string, held: string])[] = [
  ['{"a":"b"}', 'text', 'a', '"b"'],
  ['{"a":"b"}', 'number', 'a', 'null'],
  ['{"a":null}', 'text', 'a', 'null'],
  ['{}', 'text', 'a', 'null'],
  ['{"a":{"b":1.10}}', 'number', 'a.b', '1.10'],
  ['{"a":12345678901234567890123}', 'number', 'a', '12345678901234567890123'],
  ['{"a":[{"b":1}]}', 'number', 'a.b', 'null'],
  ['{"a":"b"}', 'text', 'a.length', 'null'],
  ['{"a":false}', 'boolean', 'a', 'false'],
  ['{"a":"false"}', 'boolean', 'a', 'null'],
  [`{"a":"${LONG}"}`, 'text', 'a', `"${LONG}"`],
  [`{"a":"${LONG}y"}`, 'text', 'a', `"${LONG}y"`],
  [`{"a":"${LONG}yz"}`, 'text', 'a', `"${LONG}y"`],
  [`{"a":"${CLEFS}yz"}`, 'text', 'a', `"${CLEFS}y"`],
]

for (const [document, kind, path, held] of HELD) {
  test(`layout: the ${kind} at ${path} of ${document.slice(0, 40)}`, () => {
    const column = columnOf({ kind, path }, { no: 1, isFilled: true })
    assert.equal(JSON.stringify(valueOfColumn(jsonObject(document), column)), held)
  })
}

test('layout: a column that is not filled is not read', () => {
  const columns = [true, false].map((isFilled, i) =>
    columnOf({ path: isFilled ? 'a' : 'b', kind: 'text' }, { no: i, isFilled }),
  )
  const find = columnFinder(columns, RULES)
  assert.equal(find(['a'], 'string')?.name, 'c0')
  assert.equal(find(['a'], 'onlyText')?.name, 'c0')
  assert.equal(find(['a'], 'integer'), undefined)
  assert.equal(find(['b'], 'string'), undefined)
})

const CHANGES: readonly (readonly [name: string, change: string, written: string])[] = [
  ['a value that changes', '{"a":1,"b":"x"} → {"a":2,"b":"x"}', 'a'],
  ['a value that is gone', '{"a":1,"b":"x"} → {"b":"x"}', 'a'],
  ['a value of another kind', '{"a":1} → {"a":"1"}', 'a'],
  ['nothing that columns hold', '{"a":1,"z":1} → {"a":1,"z":2}', ''],
  ['a member in an object', '{"o":{"p":1,"q":1}} → {"o":{"p":1,"q":2}}', 'o.q'],
  ['other digits of the same number', '{"a":3.10} → {"a":3.100}', 'a'],
  ['the text of words', '{"w":{"t":"one"}} → {"w":{"t":"two"}}', 'words'],
  [
    'all columns where many change',
    '{} → {"a":1,"b":1,"o":{"p":1,"q":1},"w":{"t":"one"}}',
    'a b o.p o.q words',
  ],
]

for (const [name, change, written] of CHANGES) {
  test(`layout: a change writes ${name}`, () => {
    const [before, after] = change.split(' → ').map(jsonObject)
    const columns = columnsToWrite(COLUMNS, [{ before, after: after! }])
    assert.equal(namesOf(columns), written)
  })
}

test('layout: a change of an unknown document writes all columns, and every change those that are not filled', () => {
  assert.equal(columnsToWrite(COLUMNS, [{ after: {} }]), COLUMNS)
  const columns = COLUMNS.map((column) => ({ ...column, isFilled: column.path !== 'b' }))
  assert.equal(namesOf(columnsToWrite(columns, [{ before: {}, after: {} }])), 'b')
})

test('layout: changes that are written together write the columns of each', () => {
  const changes = [
    { before: { a: 1 }, after: { a: 2 } },
    { before: { a: 1, b: 1 }, after: { a: 1, b: 2 } },
  ]
  assert.equal(namesOf(columnsToWrite(COLUMNS, changes)), 'a b')
})

const COLUMNS: readonly Column[] = [
  ...(['a', 'b', 'o.p', 'o.q'] as const).map((path, no) =>
    columnOf({ path, kind: 'text' }, { no, isFilled: true }),
  ),
  {
    ...columnOf({ path: '$w.t', kind: 'json' }, { no: 4, isFilled: true }),
    path: 'words',
    steps: [],
    source: { fields: [['w', 't']] },
  },
]

function namesOf(columns: readonly Column[]): string {
  return columns.map(({ path }) => path).join(' ')
}
