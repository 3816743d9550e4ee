/** Texts around what an index holds of them: a store that indexes beginnings answers as one that indexes all. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Json } from '../../src/base/json/json.ts'
import type { IndexDefinition } from '../../src/schema/schema.ts'
import { openStore } from '../../src/store/open.ts'
import type { StoreKind } from '../../src/store/store.ts'
import { freshPlace } from '../support/store-kind.ts'
import { type Stage, find, index, insert, openStage } from './contract.ts'

/** PostgreSQL indexes 400 characters, or 200 of each where an index has two texts. */
const LENGTHS = [199, 200, 201, 399, 400, 401]

/** One unit of UTF-16 each but the last, which has two: by units it would come before the second. */
const FILLS = ['a', '\u{FF5E}', '\u{1D4B3}']

/** Ends that come before and after what they follow, where an index may not reach. */
const ENDS = ['', '!', '\u{10FFFF}']

const TEXTS: readonly string[] = [
  ...LENGTHS.flatMap((length) => FILLS.flatMap((fill) => ENDS.map((end) => ended(fill, length, end)))),
  ...[2_700, 10_000].flatMap((length) => ENDS.map((end) => ended('a', length, end))),
  ...[200, 400, 401].map((length) => 'A'.repeat(length)),
  '',
  'a',
  'A',
  'b',
]

const INDEXES: readonly (readonly [name: string, indexes: readonly IndexDefinition[]])[] = [
  ['one text', [index(['s'])]],
  ['one text, folded', [index([{ path: 's', caseInsensitive: true }])]],
  ['two texts, and the second alone', [index(['s', 's2']), index(['s2'])]],
  ['two texts, unique', [index([{ path: 's', descending: true }, 's2'], true)]],
]

interface Question {
  readonly query?: Json
  readonly sort?: Json
  readonly from?: number
  readonly to?: number
}

const FIELDS = ['s', 's2']

const QUESTIONS: readonly (readonly [rule: string, questions: readonly Question[]])[] = [
  ['compares the whole text', comparisons()],
  ['a list names whole texts', lists()],
  ['a pattern begins with plain text of any length', patterns()],
  ['pages follow each other in the order of the whole texts', pages()],
]

for (const [name, indexes] of INDEXES) {
  suite(`long texts, ${name}`, () => {
    let stages: readonly Stage[] = []
    before(async () => {
      stages = await Promise.all([filled('sqlite', indexes), filled('postgres', indexes)])
    })
    after(() => Promise.all(stages.map((stage) => stage[Symbol.asyncDispose]())))

    for (const [rule, questions] of QUESTIONS) {
      test(`find: ${rule}`, async () => {
        let matches = 0
        for (const question of questions) {
          const [onSqlite, onPostgres] = await Promise.all(stages.map((stage) => answerOf(stage, question)))
          assert.deepEqual(onPostgres, onSqlite, JSON.stringify(question))
          matches += onSqlite!.matchCount
        }
        assert.ok(matches > questions.length)
      })
    }
  })
}

function ended(fill: string, length: number, end: string): string {
  return fill.repeat(length - (end === '' ? 0 : 1)) + end
}

/** Each text with an operator or two for each field, each operator with texts of every length. */
function comparisons(): readonly Question[] {
  const operators = ['$eq', '$lt', '$lte', '$neq', '$gt', '$gte']
  return FIELDS.flatMap((field, k) =>
    TEXTS.flatMap((rvalue, i) =>
      operators.filter((_, j) => (i + j + k * 3) % 5 === 0).map((op) => ({ query: { field, op, rvalue } })),
    ),
  )
}

function lists(): readonly Question[] {
  const long = TEXTS.filter((_, i) => i % 4 === 0)
  const edge = TEXTS.filter((text) => /^a+$/.test(text))
  const listed: readonly Json[][] = [
    long,
    edge,
    [...edge, null],
    ['a', 'b'],
    ['a', 'a'.repeat(10_000)],
    ['a', null],
  ]
  return FIELDS.flatMap((field) =>
    listed.flatMap((values) => ['$in', '$nin'].map((op) => ({ query: { field, op, values } }))),
  )
}

/** A pattern has at most 1,000 units of UTF-16, so the longest are of the others only. */
function patterns(): readonly Question[] {
  const lengths = [1, 199, 200, 201, 399, 400, 401]
  const begun = FILLS.flatMap((fill) => lengths.map((length) => fill.repeat(length)))
  return begun
    .filter((text) => text.length < 900)
    .flatMap((text, i) => ['', '!', '$'].map((end) => ({ regex: `^${text}${end}`, field: FIELDS[i % 2]! })))
    .map((query, i) => ({ query: { ...query, caseInsensitive: i % 2 === 0 } }))
}

function pages(): readonly Question[] {
  const sorts: readonly Json[] = [
    { s: '$asc' },
    { s: '$desc' },
    [{ s: '$asc' }, { s2: '$desc' }],
    [{ s2: '$desc' }, { s: '$asc' }],
    [{ s: '$desc' }, { s2: '$asc' }],
  ]
  const queries: readonly (Json | undefined)[] = [
    undefined,
    { field: 's', op: '>=', rvalue: 'a'.repeat(400) },
  ]
  return sorts.flatMap((sort) =>
    queries.flatMap((query) =>
      Array.from({ length: 10 }, (_, i) => {
        const page = { sort, from: i * 25, to: i * 25 + 24 }
        return query === undefined ? page : { ...page, query }
      }),
    ),
  )
}

/** Every text in both fields, some of them twice and with others of their kind, and documents that lack one. */
async function filled(kind: StoreKind, indexes: readonly IndexDefinition[]): Promise<Stage> {
  const openAt = (location: string) => openStore(kind === 'postgres' ? usingIndexes(location) : location)
  const stage = await openStage({ freshPlace: () => freshPlace(kind), openAt }, indexes)
  const documents = TEXTS.flatMap((s, i) => [
    { _id: `${i}`, s, s2: TEXTS[(i * 37) % TEXTS.length]! },
    { _id: `${i}+`, s, s2: TEXTS[(i * 37 + 1) % TEXTS.length]! },
  ])
  const lacking = [{ _id: 's', s: 'a' }, { _id: 's2', s2: 'a' }, { _id: '-' }]
  await insert(stage.store, JSON.stringify([...documents, ...lacking]))
  return stage
}

/** So few documents would be read one by one, and what the indexes hold would not matter. */
function usingIndexes(location: string): string {
  const url = new URL(location)
  url.searchParams.set('options', '-c enable_seqscan=off')
  return url.href
}

async function answerOf({ store }: Stage, question: Question) {
  const { documents, matchCount } = await find(store, question)
  return { ids: documents.map(({ id }) => id), matchCount }
}
