/** Which differences count as changes, and which paths report them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { detectChanges } from '../../../src/events/detect-changes.ts'
import { parseProjection } from '../../../src/lang/parse/parse-projection.ts'
import { resolveProjection } from '../../../src/lang/resolve/resolve.ts'
import { rootScope } from '../../../src/lang/resolve/scope.ts'
import { compiledSchema } from '../../support/schema.ts'
import { jsonObject } from '../../support/service.ts'

const TEXT = { type: 'string' }
const NUMBERS = { type: 'array', items: { type: 'integer' } }

const schema = compiledSchema('shop', {
  name: TEXT,
  price: { type: 'bigdecimal' },
  address: { type: 'object', fields: { city: TEXT, zip: TEXT } },
  d: NUMBERS,
  sites: {
    type: 'array',
    items: {
      type: 'object',
      fields: {
        siteId: { type: 'string', constraints: { 'element-identity': true } },
        city: TEXT,
        street: TEXT,
        phones: { type: 'array', items: TEXT },
      },
    },
  },
  notes: { type: 'array', items: { type: 'object', fields: { text: TEXT, by: TEXT } } },
  more: { type: 'any' },
})

interface Case {
  readonly rule: string
  readonly before?: string
  readonly after?: string
  readonly watch?: Json
  readonly ordered?: boolean
  /** Undefined: no change. */
  readonly changed?: readonly string[]
  readonly removed?: readonly string[]
}

function states({ before, after }: Case): { before?: JsonObject; after?: JsonObject } {
  return {
    ...(before !== undefined && { before: jsonObject(before) }),
    ...(after !== undefined && { after: jsonObject(after) }),
  }
}

const CASES: readonly Case[] = [
  { rule: 'equal documents have no changes', before: '{"name":"a","d":[1]}', after: '{"d":[1],"name":"a"}' },
  { rule: 'an added value is a change', before: '{}', after: '{"name":"a"}', changed: ['name'] },
  { rule: 'a removed value is a change', before: '{"name":"a"}', after: '{}', removed: ['name'] },
  { rule: 'null is a value', before: '{}', after: '{"name":null}', changed: ['name'] },
  {
    rule: 'other digits of the same number are not a change',
    before: '{"price":1,"d":[1,2]}',
    after: '{"price":1.0,"d":[2,1]}',
  },
  {
    rule: 'an exponent in the same number is not a change',
    before: '{"price":1200,"more":{"x":[1.10]}}',
    after: '{"price":12e2,"more":{"x":[1.1]}}',
  },
  {
    rule: 'another number is a change',
    before: '{"price":1.1}',
    after: '{"price":1.11}',
    changed: ['price'],
  },
  {
    rule: 'an added object is one change',
    before: '{}',
    after: '{"address":{"city":"a","zip":"1"}}',
    changed: ['address'],
  },
  {
    rule: 'a removed object is one removal',
    before: '{"address":{"city":"a","zip":"1"}}',
    after: '{}',
    removed: ['address'],
  },
  {
    rule: 'a changed member is reported by its path',
    before: '{"address":{"city":"a","zip":"1"}}',
    after: '{"address":{"city":"b"}}',
    changed: ['address.city'],
    removed: ['address.zip'],
  },
  { rule: 'an empty object equals a missing one', before: '{}', after: '{"address":{},"d":[]}' },
  {
    rule: 'a value in place of an array is one change',
    before: '{"more":{"a":[1]}}',
    after: '{"more":{"a":1}}',
    changed: ['more.a'],
  },
  { rule: 'sizes of arrays are ignored', before: '{"d#":1}', after: '{"d#":2}' },
  { rule: 'members of other versions are ignored', before: '{"other":1}', after: '{"other":2}' },
  {
    rule: 'a replaced element is removed and added',
    before: '{"d":[1,2,3]}',
    after: '{"d":[1,2,4]}',
    changed: ['d.2'],
    removed: ['d.2'],
  },
  {
    rule: 'an inserted element is the only change',
    before: '{"d":[1,2,3]}',
    after: '{"d":[1,2,4,3]}',
    changed: ['d.2'],
  },
  {
    rule: 'elements after an inserted one have moved if order is significant',
    before: '{"d":[1,2,3]}',
    after: '{"d":[1,2,4,3]}',
    ordered: true,
    changed: ['d.2', 'd.3'],
  },
  { rule: 'another order is not a change', before: '{"d":[1,2,3]}', after: '{"d":[3,1,2]}' },
  {
    rule: 'another order is a change if order is significant',
    before: '{"d":[1,2,3]}',
    after: '{"d":[1,3,2]}',
    ordered: true,
    changed: ['d.1', 'd.2'],
  },
  {
    rule: 'removing one of two equal elements is one removal',
    before: '{"d":[1,1]}',
    after: '{"d":[1]}',
    removed: ['d.1'],
  },
  {
    rule: 'equal elements are paired at the same position first',
    before: '{"d":[7,2,7]}',
    after: '{"d":[9,2,7]}',
    ordered: true,
    changed: ['d.0'],
    removed: ['d.0'],
  },
  {
    rule: 'equal elements are paired at the same position first, whatever their digits',
    before: '{"more":[7,2,7.0]}',
    after: '{"more":[9,2,7]}',
    ordered: true,
    changed: ['more.0'],
    removed: ['more.0'],
  },
  {
    rule: 'elements are paired by identity',
    before: '{"sites":[{"siteId":"1","city":"a","street":"s"},{"siteId":"2","city":"b","street":"t"}]}',
    after: '{"sites":[{"siteId":"2","city":"y","street":"z"},{"siteId":"1","city":"a","street":"s"}]}',
    changed: ['sites.0.city', 'sites.0.street'],
  },
  {
    rule: 'another identity is another element, whatever its content',
    before: '{"sites":[{"siteId":"1","city":"a","street":"s","phones":["1"]}]}',
    after: '{"sites":[{"siteId":"2","city":"a","street":"s","phones":["1"]}]}',
    changed: ['sites.0'],
    removed: ['sites.0'],
  },
  {
    rule: 'removed values are reported with their old paths',
    before: '{"sites":[{"siteId":"1","city":"a"},{"siteId":"2","city":"b","street":"t"}]}',
    after: '{"sites":[{"siteId":"2","city":"b"}]}',
    removed: ['sites.1.street', 'sites.0'],
  },
  {
    rule: 'identities that are not watched still identify elements',
    watch: { field: 'sites.*.city' },
    before: '{"sites":[{"siteId":"1","city":"a"},{"siteId":"2","city":"b"}]}',
    after: '{"sites":[{"siteId":"1","city":"b"},{"siteId":"2","city":"a"}]}',
    changed: ['sites.0.city', 'sites.1.city'],
  },
  {
    rule: 'an identity that is not watched is not content',
    watch: { field: 'sites.*.city' },
    before: '{"sites":[{"siteId":"1","city":"a"}]}',
    after: '{"sites":[{"siteId":"2","street":"s"},{"siteId":"1","city":"a"}]}',
  },
  {
    rule: 'without identity, elements with half of their values in common are paired',
    before: '{"notes":[{"text":"a","by":"x"},{"text":"b","by":"y"}]}',
    after: '{"notes":[{"text":"b","by":"z"},{"text":"a","by":"x"}]}',
    changed: ['notes.0.by'],
  },
  {
    rule: 'without identity, elements with less in common are not paired',
    before: '{"notes":[{"text":"a","by":"x"}]}',
    after: '{"notes":[{"text":"b","by":"y"}]}',
    changed: ['notes.0'],
    removed: ['notes.0'],
  },
  {
    rule: 'another order inside of elements is not a change',
    before: '{"sites":[{"siteId":"1","phones":["1","2"]}]}',
    after: '{"sites":[{"siteId":"1","phones":["2","1"]}]}',
  },
  {
    rule: 'elements without watched content do not count as positions',
    watch: { field: 'notes.*.by' },
    ordered: true,
    before: '{"notes":[{"text":"t"},{"by":"x"}]}',
    after: '{"notes":[{},{"by":"x"},{"by":"y"}]}',
    changed: ['notes.2'],
  },
  {
    rule: 'a field that is not watched is ignored',
    watch: { field: 'name' },
    before: '{"name":"a","price":1}',
    after: '{"name":"a","price":2}',
  },
  {
    rule: 'a watched object includes its content',
    watch: { field: 'address' },
    before: '{"address":{"city":"a"}}',
    after: '{"address":{"city":"b"}}',
    changed: ['address.city'],
  },
  {
    rule: '* means simple members and arrays',
    watch: { field: '*' },
    before: '{"address":{"city":"a"},"name":"a","d":[1]}',
    after: '{"address":{"city":"b"},"name":"b","d":[1,2]}',
    changed: ['name', 'd.1'],
  },
  {
    rule: 'selected elements are watched, others are not',
    watch: {
      field: 'sites',
      match: { field: 'city', op: '=', rvalue: 'a' },
      projection: { field: 'street' },
    },
    before: '{"sites":[{"siteId":"1","city":"b","street":"s"},{"siteId":"2","city":"a","street":"t"}]}',
    after: '{"sites":[{"siteId":"1","city":"b","street":"x"},{"siteId":"2","city":"a","street":"y"}]}',
    changed: ['sites.0.street'],
  },
  {
    rule: 'elements may be selected by fields that are not watched',
    watch: { field: 'notes', match: { field: 'by', op: '=', rfield: '$parent.name' } },
    before: '{"name":"x","notes":[{"by":"x"}]}',
    after: '{"name":"y","notes":[{"by":"x"}]}',
    removed: ['notes'],
  },
  {
    rule: 'an excluded field is not watched',
    watch: [
      { field: '*', recursive: true },
      { field: 'address.zip', include: false },
    ],
    before: '{"address":{"city":"a","zip":"1"}}',
    after: '{"address":{"city":"a","zip":"2"}}',
  },
  {
    rule: 'an insert changes all watched fields',
    watch: [{ field: 'address' }, { field: 'd' }],
    after: '{"name":"a","address":{"city":"a"},"d":[1,2]}',
    changed: ['address', 'd'],
  },
  { rule: 'an insert without watched fields is not a change', watch: { field: 'd' }, after: '{"name":"a"}' },
  {
    rule: 'a delete removes all watched fields',
    watch: { field: 'd' },
    before: '{"name":"a","d":[1]}',
    removed: ['d'],
  },
]

for (const each of CASES) {
  test(`changes: ${each.rule}`, () => {
    const { watch, ordered = false, changed = [], removed = [] } = each
    const projection =
      watch === undefined ? undefined : resolveProjection(parseProjection(watch, ''), rootScope(schema))
    const options = { schema, projection, arrayOrderingSignificant: ordered }
    const found = detectChanges(options, states(each))
    if (changed.length + removed.length === 0) assert.equal(found, undefined)
    else assert.deepEqual([found?.changed, found?.removed], [changed, removed])
  })
}

test('changes: both states contain the watched part only', () => {
  const projection = resolveProjection(parseProjection({ field: 'sites.*.city' }, ''), rootScope(schema))
  const before = jsonObject('{"name":"a","sites":[{"siteId":"1","city":"a","street":"s"}],"sites#":1}')
  const after = jsonObject('{"name":"b","sites":[{"siteId":"1","city":"b","street":"t"}],"sites#":1}')
  const found = detectChanges({ schema, projection, arrayOrderingSignificant: false }, { before, after })
  assert.deepEqual(found?.before, { sites: [{ siteId: '1', city: 'a' }] })
  assert.deepEqual(found.after, { sites: [{ siteId: '1', city: 'b' }] })
})

test('changes: thousands of changed elements are compared quickly', () => {
  const notes = (mark: string): JsonObject => ({
    notes: Array.from({ length: 5_000 }, (_, i) => ({ text: `${mark}${i}`, by: `x${i}` })),
  })
  const began = performance.now()
  const options = { schema, projection: undefined, arrayOrderingSignificant: true }
  const found = detectChanges(options, { before: notes('a'), after: notes('b') })
  assert.equal(found?.changed.length, 5_000)
  assert.ok(performance.now() - began < 2_000)
})
