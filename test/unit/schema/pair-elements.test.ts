/** Pairs of old and new elements, compared with a search that is too slow for long arrays but plainly right. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Json, type JsonObject, isObject } from '../../../src/base/json/json.ts'
import type { ArrayField, Field } from '../../../src/schema/field.ts'
import { pairElements } from '../../../src/schema/pair-elements.ts'
import { compiledSchema } from '../../support/schema.ts'
import { SEED } from '../../support/seed.ts'

fc.configureGlobal({ seed: SEED })

const ELEMENT = { v: { type: 'integer' }, w: { type: 'integer' } }
const schema = compiledSchema('t', {
  values: { type: 'array', items: { type: 'integer' } },
  objects: { type: 'array', items: { type: 'object', fields: ELEMENT } },
  named: {
    type: 'array',
    items: {
      type: 'object',
      fields: { ...ELEMENT, id: { type: 'integer', constraints: { 'element-identity': true } } },
    },
  },
  nested: {
    type: 'array',
    items: {
      type: 'object',
      fields: {
        v: { type: 'integer' },
        hidden: { type: 'integer' },
        inner: { type: 'object', fields: { hidden: { type: 'integer' }, w: { type: 'integer' } } },
        list: { type: 'array', items: { type: 'integer' } },
        free: { type: 'any' },
      },
    },
  },
})

/** Few values repeat often, many seldom. */
const small = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 1_000 }))
const optional = fc.option(small, { nil: undefined })
const object = fc.record({ v: small, w: optional }).map(withoutUndefined)
const named = fc.record({ id: optional, v: small }).map(withoutUndefined)

/** Hidden members, sizes of arrays, and members that the schema does not define are no content. */
const nested = fc
  .record({
    v: small,
    hidden: optional,
    unknown: optional,
    inner: fc.record({ hidden: optional, w: fc.integer({ min: 0, max: 1 }) }).map(withoutUndefined),
    list: fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 2 }),
    'list#': optional,
    free: fc.constantFrom({ a: 1, b: 2 }, { b: 2, a: 1 }, 1),
  })
  .map(withoutUndefined)
const isHidden = ({ name }: Field): boolean => name === 'hidden'

const KINDS: readonly [field: string, value: fc.Arbitrary<Json>, identityOf?: (value: JsonObject) => Json][] =
  [
    ['values', small],
    ['objects', object],
    ['named', named, ({ id = null }) => id],
    ['nested', nested],
  ]

for (const [field, value, identity] of KINDS) {
  test(`pair elements: ${field} are paired by identity, then by content, then in order`, () => {
    const { element } = schema.root.fields.get(field) as ArrayField
    const array = fc.array(value, { maxLength: 8 })
    // most changes of an array leave its beginning and its end as they are
    const changes = fc.tuple(array, array, array, array).map(
      ([begin, old, fresh, end]) =>
        [
          [...begin, ...old, ...end],
          [...begin, ...fresh, ...end],
        ] as const,
    )
    fc.assert(
      fc.property(changes, ([old, fresh]) => {
        assert.deepEqual(pairElements(old, fresh, element, isHidden), expected(old, fresh, identity))
      }),
      { numRuns: 2_000 },
    )
  })
}

/** Each element takes the first old one that is left and fits, in rounds. */
function expected(
  old: readonly Json[],
  fresh: readonly Json[],
  identityOf: ((value: JsonObject) => Json) | undefined,
): readonly (number | undefined)[] {
  const pairs: (number | undefined)[] = fresh.map(() => undefined)
  const round = (fits: (before: Json, after: Json) => boolean): void => {
    for (const [i, after] of fresh.entries()) {
      const found = old.findIndex((before, k) => !pairs.includes(k) && fits(before, after))
      if (pairs[i] === undefined && found !== -1) pairs[i] = found
    }
  }
  if (identityOf) {
    const identity = (value: Json): Json => identityOf(value as JsonObject)
    round((before, after) => identity(after) !== null && identity(before) === identity(after))
  }
  round((before, after) => keyOf(before) === keyOf(after))
  if (!identityOf) round(() => true)
  return pairs
}

function keyOf(value: Json): string {
  return JSON.stringify(value, (key, each: Json) => {
    if (key === 'hidden' || key === 'unknown' || key.endsWith('#')) return undefined
    return isObject(each) ? Object.fromEntries(Object.entries(each).sort()) : each
  })
}

function withoutUndefined(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, each]) => each !== undefined)) as JsonObject
}
