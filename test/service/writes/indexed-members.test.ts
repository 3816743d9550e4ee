/** Indexes into arrays and for text search follow every change of the members that they hold, and others leave them alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { type Chance, sampleEvenly } from '../../support/chance.ts'
import { SEED } from '../../support/seed.ts'
import { ADMIN, documentsOf, openTestService } from '../../support/service.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const WORDS = ['red', 'blue', 'sky', 'night']
const FIELDS: JsonObject = {
  _id: { type: 'string' },
  n: { type: 'integer' },
  o: { type: 'object', fields: { title: { type: 'string' }, note: { type: 'string' } } },
  tags: { type: 'array', items: { type: 'string' } },
  lines: {
    type: 'array',
    items: { type: 'object', fields: { sku: { type: 'string' }, pieces: { type: 'integer' } } },
  },
}
const INDEXES: Json = [
  { name: 'tags', fields: [{ field: 'tags.*', dir: '$asc' }] },
  { name: 'skus', fields: [{ field: 'lines.*.sku', dir: '$asc' }] },
  { name: 'text', kind: 'text', fields: [{ field: 'o.title' }] },
]
const UPDATES: readonly ((chance: Chance) => Json)[] = [
  () => ({ $add: { n: 1 } }),
  (chance) => ({ $set: { 'o.note': chance.pick(WORDS) } }),
  (chance) => ({ $set: { 'o.title': `${chance.pick(WORDS)} ${chance.pick(WORDS)}` } }),
  () => ({ $unset: 'o.title' }),
  (chance) => ({ $append: { tags: [chance.pick(WORDS)] } }),
  (chance) => ({ $set: { tags: [chance.pick(WORDS)] } }),
  (chance) => ({
    $foreach: { tags: { field: '$this', op: '=', rvalue: chance.pick(WORDS) }, $update: '$remove' },
  }),
  (chance) => ({ $set: { 'lines.0.sku': chance.pick(WORDS) } }),
  () => ({ $foreach: { lines: '$all', $update: { $add: { pieces: 1 } } } }),
]

onEveryStore((kind) => {
  test(`indexes: find what random updates have left on ${kind} (SMALT_SEED=${SEED})`, async () => {
    await using tester = await openTestService()
    await tester.define('thing', FIELDS, { info: { indexes: INDEXES } })
    await sampleEvenly(SEED, async (chance) => {
      const ids = ['a', 'b', 'c']
      await tester.store(
        'thing',
        ids.map((_id) => ({ _id, n: 0, tags: ['red'], lines: [{ sku: 'sky', pieces: 1 }] })),
      )
      for (let step = 0; step < 150; step++) {
        const update = chance.pick(UPDATES)(chance)
        const query = { field: '_id', op: '=', rvalue: chance.pick(ids) }
        const { errors } = await tester.service.data.update(ADMIN, { entity: 'thing' }, { query, update })
        assert.equal(errors, undefined, JSON.stringify([update, errors]))
        const all = documentsOf(await tester.find('thing', { projection: { field: '*', recursive: true } }))
        for (const word of WORDS) {
          for (const [by, condition] of Object.entries(CONDITIONS)) {
            const found = documentsOf(
              await tester.find('thing', { query: condition(word), projection: { field: '_id' } }),
            )
            assert.deepEqual(
              found.map(({ _id }) => _id).toSorted(),
              all
                .filter((each) => valuesOf(each)[by]!.includes(word))
                .map(({ _id }) => _id)
                .toSorted(),
              `${by} ${word} after ${JSON.stringify(update)}`,
            )
          }
        }
      }
    })
  })
})

const CONDITIONS: Readonly<Record<string, (word: string) => JsonObject>> = {
  tags: (word) => ({ field: 'tags.*', op: '=', rvalue: word }),
  skus: (word) => ({ field: 'lines.*.sku', op: '=', rvalue: word }),
  text: (word) => ({ text: word, index: 'text' }),
}

function valuesOf(document: JsonObject): Readonly<Record<string, readonly string[]>> {
  const {
    tags = [],
    lines = [],
    o,
  } = document as {
    readonly tags?: readonly string[]
    readonly lines?: readonly { readonly sku?: string }[]
    readonly o?: { readonly title?: string }
  }
  return { tags, skus: lines.flatMap(({ sku }) => sku ?? []), text: o?.title?.split(' ') ?? [] }
}
