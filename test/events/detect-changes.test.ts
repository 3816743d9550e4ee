/** What counts as a change, and by which paths it is told. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { detectChanges } from '../../src/events/detect-changes.ts'
import { parseProjection } from '../../src/lang/parse/parse-projection.ts'
import { resolveProjection } from '../../src/lang/resolve/resolve.ts'
import { rootScope } from '../../src/lang/resolve/scope.ts'
import { compiledSchema } from '../support/schema.ts'
import { jsonObject } from '../support/service.ts'

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
  { rule: 'equal documents do not differ', before: '{"name":"a","d":[1]}', after: '{"d":[1],"name":"a"}' },
  { rule: 'a value that comes is one', before: '{}', after: '{"name":"a"}', changed: ['name'] },
  { rule: 'a value that goes is one', before: '{"name":"a"}', after: '{}', removed: ['name'] },
  { rule: 'null is a value', before: '{}', after: '{"name":null}', changed: ['name'] },
  { rule: 'digits alone are none', before: '{"price":1,"d":[1,2]}', after: '{"price":1.0,"d":[2,1]}' },
  {
    rule: 'an exponent alone is none',
    before: '{"price":1200,"more":{"x":[1.10]}}',
    after: '{"price":12e2,"more":{"x":[1.1]}}',
  },
  { rule: 'another number is one', before: '{"price":1.1}', after: '{"price":1.11}', changed: ['price'] },
  {
    rule: 'an object that comes is one change',
    before: '{}',
    after: '{"address":{"city":"a","zip":"1"}}',
    changed: ['address'],
  },
  {
    rule: 'an object that goes is one removal',
    before: '{"address":{"city":"a","zip":"1"}}',
    after: '{}',
    removed: ['address'],
  },
  {
    rule: 'a member is named by its path',
    before: '{"address":{"city":"a","zip":"1"}}',
    after: '{"address":{"city":"b"}}',
    changed: ['address.city'],
    removed: ['address.zip'],
  },
  { rule: 'an empty object is the same as none', before: '{}', after: '{"address":{},"d":[]}' },
  {
    rule: 'a container in place of a value is one change',
    before: '{"more":{"a":[1]}}',
    after: '{"more":{"a":1}}',
    changed: ['more.a'],
  },
  { rule: 'sizes of arrays are none', before: '{"d#":1}', after: '{"d#":2}' },
  { rule: 'members of other versions are none', before: '{"other":1}', after: '{"other":2}' },
  {
    rule: 'an element in place of another is both gone and new',
    before: '{"d":[1,2,3]}',
    after: '{"d":[1,2,4]}',
    changed: ['d.2'],
    removed: ['d.2'],
  },
  {
    rule: 'a new element is named alone',
    before: '{"d":[1,2,3]}',
    after: '{"d":[1,2,4,3]}',
    changed: ['d.2'],
  },
  {
    rule: 'those that it moves are named where order counts',
    before: '{"d":[1,2,3]}',
    after: '{"d":[1,2,4,3]}',
    ordered: true,
    changed: ['d.2', 'd.3'],
  },
  { rule: 'order alone is none', before: '{"d":[1,2,3]}', after: '{"d":[3,1,2]}' },
  {
    rule: 'order is one where it counts',
    before: '{"d":[1,2,3]}',
    after: '{"d":[1,3,2]}',
    ordered: true,
    changed: ['d.1', 'd.2'],
  },
  { rule: 'one of two equal elements goes', before: '{"d":[1,1]}', after: '{"d":[1]}', removed: ['d.1'] },
  {
    rule: 'equal elements stay where they can',
    before: '{"d":[7,2,7]}',
    after: '{"d":[9,2,7]}',
    ordered: true,
    changed: ['d.0'],
    removed: ['d.0'],
  },
  {
    rule: 'equal elements stay where they can, whatever their digits',
    before: '{"more":[7,2,7.0]}',
    after: '{"more":[9,2,7]}',
    ordered: true,
    changed: ['more.0'],
    removed: ['more.0'],
  },
  {
    rule: 'elements are found by their identity',
    before: '{"sites":[{"siteId":"1","city":"a","street":"s"},{"siteId":"2","city":"b","street":"t"}]}',
    after: '{"sites":[{"siteId":"2","city":"y","street":"z"},{"siteId":"1","city":"a","street":"s"}]}',
    changed: ['sites.0.city', 'sites.0.street'],
  },
  {
    rule: 'another identity is another element, however alike',
    before: '{"sites":[{"siteId":"1","city":"a","street":"s","phones":["1"]}]}',
    after: '{"sites":[{"siteId":"2","city":"a","street":"s","phones":["1"]}]}',
    changed: ['sites.0'],
    removed: ['sites.0'],
  },
  {
    rule: 'what goes is named where it was',
    before: '{"sites":[{"siteId":"1","city":"a"},{"siteId":"2","city":"b","street":"t"}]}',
    after: '{"sites":[{"siteId":"2","city":"b"}]}',
    removed: ['sites.1.street', 'sites.0'],
  },
  {
    rule: 'identities that are not watched still tell elements apart',
    watch: { field: 'sites.*.city' },
    before: '{"sites":[{"siteId":"1","city":"a"},{"siteId":"2","city":"b"}]}',
    after: '{"sites":[{"siteId":"1","city":"b"},{"siteId":"2","city":"a"}]}',
    changed: ['sites.0.city', 'sites.1.city'],
  },
  {
    rule: 'an identity that is not watched is no content',
    watch: { field: 'sites.*.city' },
    before: '{"sites":[{"siteId":"1","city":"a"}]}',
    after: '{"sites":[{"siteId":"2","street":"s"},{"siteId":"1","city":"a"}]}',
  },
  {
    rule: 'without identity half as much in common is enough',
    before: '{"notes":[{"text":"a","by":"x"},{"text":"b","by":"y"}]}',
    after: '{"notes":[{"text":"b","by":"z"},{"text":"a","by":"x"}]}',
    changed: ['notes.0.by'],
  },
  {
    rule: 'without identity less in common is another element',
    before: '{"notes":[{"text":"a","by":"x"}]}',
    after: '{"notes":[{"text":"b","by":"y"}]}',
    changed: ['notes.0'],
    removed: ['notes.0'],
  },
  {
    rule: 'order inside of elements is none',
    before: '{"sites":[{"siteId":"1","phones":["1","2"]}]}',
    after: '{"sites":[{"siteId":"1","phones":["2","1"]}]}',
  },
  {
    rule: "elements without anything watched are in nobody's way",
    watch: { field: 'notes.*.by' },
    ordered: true,
    before: '{"notes":[{"text":"t"},{"by":"x"}]}',
    after: '{"notes":[{},{"by":"x"},{"by":"y"}]}',
    changed: ['notes.2'],
  },
  {
    rule: 'a field that is not watched does not count',
    watch: { field: 'name' },
    before: '{"name":"a","price":1}',
    after: '{"name":"a","price":2}',
  },
  {
    rule: 'a watched object is watched with its content',
    watch: { field: 'address' },
    before: '{"address":{"city":"a"}}',
    after: '{"address":{"city":"b"}}',
    changed: ['address.city'],
  },
  {
    rule: 'every member means simple ones and arrays',
    watch: { field: '*' },
    before: '{"address":{"city":"a"},"name":"a","d":[1]}',
    after: '{"address":{"city":"b"},"name":"b","d":[1,2]}',
    changed: ['name', 'd.1'],
  },
  {
    rule: 'chosen elements are watched, the others not',
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
    rule: 'elements may be chosen by what is not watched',
    watch: { field: 'notes', match: { field: 'by', op: '=', rfield: '$parent.name' } },
    before: '{"name":"x","notes":[{"by":"x"}]}',
    after: '{"name":"y","notes":[{"by":"x"}]}',
    removed: ['notes'],
  },
  {
    rule: 'an exclusion is not watched',
    watch: [
      { field: '*', recursive: true },
      { field: 'address.zip', include: false },
    ],
    before: '{"address":{"city":"a","zip":"1"}}',
    after: '{"address":{"city":"a","zip":"2"}}',
  },
  {
    rule: 'an insert is a change of all that is watched',
    watch: [{ field: 'address' }, { field: 'd' }],
    after: '{"name":"a","address":{"city":"a"},"d":[1,2]}',
    changed: ['address', 'd'],
  },
  { rule: 'an insert without what is watched is none', watch: { field: 'd' }, after: '{"name":"a"}' },
  {
    rule: 'a delete removes all that is watched',
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
    const watching = { schema, projection, arrayOrderingSignificant: ordered }
    const found = detectChanges(watching, states(each))
    if (changed.length + removed.length === 0) assert.equal(found, undefined)
    else assert.deepEqual([found?.changed, found?.removed], [changed, removed])
  })
}

test('changes: both states are told as far as they are watched', () => {
  const projection = resolveProjection(parseProjection({ field: 'sites.*.city' }, ''), rootScope(schema))
  const before = jsonObject('{"name":"a","sites":[{"siteId":"1","city":"a","street":"s"}],"sites#":1}')
  const after = jsonObject('{"name":"b","sites":[{"siteId":"1","city":"b","street":"t"}],"sites#":1}')
  const found = detectChanges({ schema, projection, arrayOrderingSignificant: false }, { before, after })
  assert.deepEqual(found?.before, { sites: [{ siteId: '1', city: 'a' }] })
  assert.deepEqual(found.after, { sites: [{ siteId: '1', city: 'b' }] })
})

test('changes: thousands of elements that all changed are told in a moment', () => {
  const notes = (mark: string): JsonObject => ({
    notes: Array.from({ length: 5_000 }, (_, i) => ({ text: `${mark}${i}`, by: `x${i}` })),
  })
  const began = performance.now()
  const watching = { schema, projection: undefined, arrayOrderingSignificant: true }
  const found = detectChanges(watching, { before: notes('a'), after: notes('b') })
  assert.equal(found?.changed.length, 5_000)
  assert.ok(performance.now() - began < 2_000)
})
