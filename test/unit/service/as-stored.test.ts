/** Two short cuts of updates against the long way: documents that are in their stored form, and members that are shared. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Json, type JsonObject, isObject } from '../../../src/base/json/json.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { compileUpdate, writesWholeMembers } from '../../../src/lang/evaluate/apply.ts'
import { parseUpdate } from '../../../src/lang/parse/parse-update.ts'
import { resolveUpdate } from '../../../src/lang/resolve/resolve-update.ts'
import { rootScope } from '../../../src/lang/resolve/scope.ts'
import { type Prepared, type Sources, prepareDocument } from '../../../src/schema/document.ts'
import { faultBudget } from '../../../src/schema/faults.ts'
import { isAsStored } from '../../../src/service/write/as-stored.ts'
import { compiledSchema } from '../../support/schema.ts'
import { SEED } from '../../support/seed.ts'
import { chanceFrom } from '../../support/seeded.ts'

const LINE = {
  sku: { type: 'string', constraints: { required: true } },
  count: { type: 'integer', constraints: { minimum: 0 } },
  notes: { type: 'array', items: { type: 'string' } },
}
const FIELDS = {
  text: { type: 'string', constraints: { minLength: 1, maxLength: 5 } },
  needed: { type: 'string', constraints: { required: true } },
  i: { type: 'integer' },
  d: { type: 'double' },
  big: { type: 'biginteger' },
  decimal: { type: 'bigdecimal', constraints: { maximum: 100 } },
  flag: { type: 'boolean' },
  date: { type: 'date' },
  bytes: { type: 'binary' },
  uid: { type: 'uid' },
  free: { type: 'any' },
  tags: { type: 'array', items: { type: 'string', constraints: { maxLength: 3 } } },
  place: {
    type: 'object',
    fields: { city: { type: 'string' }, tags: { type: 'array', items: { type: 'integer' } } },
  },
  lines: { type: 'array', constraints: { maxItems: 2 }, items: { type: 'object', fields: LINE } },
}
const GENERATED = { type: 'date', valueGenerator: { type: 'CurrentTime', overwrite: true } }
const IDENTIFIED = { id: { type: 'string', constraints: { 'element-identity': true } } }

const plain = compiledSchema('t', FIELDS)
const generating = compiledSchema('t', { ...FIELDS, changed: GENERATED })
const identifying = compiledSchema('t', {
  ...FIELDS,
  named: { type: 'array', items: { type: 'object', fields: IDENTIFIED } },
})

/** Among them values that each type takes as they are, casts, or refuses. */
const VALUES: readonly Json[] = [
  'a', 'b', 'abcdef', '', '7', 'true', '20240102T03:04:05.678+0000', '2024-01-02T03:04:05.678Z', 'U21hbHQ=', 'é',
  0, -0, 1, -1, 1.5, 101, 2 ** 53, 1e300, true, false, null,
  JSON.rawJSON('1.10'), JSON.rawJSON('9007199254740993'), JSON.rawJSON('1e2'), JSON.rawJSON('-0'),
  [], ['a'], ['a', null], ['abcd'], [1, 2], {}, { city: 'x', 'tags#': 0 }, { tags: [1], 'tags#': 1 }, { city: 1 }, { x: 1 },
  [{ sku: 's', 'notes#': 0 }], [{ sku: 's', count: 1, notes: ['n'], 'notes#': 1 }], [{ count: 1, 'notes#': 0 }],
  [{ id: 'a' }, { id: 'b' }], [{ id: 'a' }, { id: 'a' }],
] // prettier-ignore

const SOUND: JsonObject = {
  text: 'abc',
  needed: 'n',
  i: 1,
  d: 1.5,
  big: JSON.rawJSON('12345678901234567890'),
  decimal: JSON.rawJSON('1.10'),
  flag: true,
  date: '2024-01-02T03:04:05.678Z',
  bytes: 'U21hbHQ=',
  uid: 'u',
  free: { a: [1, null] },
  tags: ['a', 'b'],
  place: { city: 'c', tags: [1] },
  lines: [{ sku: 's', count: 1, notes: ['n'] }, { sku: 't' }],
}

for (const [what, schema] of Object.entries({ plain, generating, identifying })) {
  test(`as stored: what is recognized would be prepared to itself, without a fault (${what}, seed ${SEED})`, () => {
    const chance = chanceFrom(SEED)
    const prepared = (document: JsonObject): Prepared =>
      prepareDocument(schema, document, sourcesForTest(), true)
    const counts = { recognized: 0, missed: 0, others: 0 }
    for (let n = 0; n < 4_000; n++) {
      const names = Object.keys(SOUND).filter((name) => name === 'needed' || chance(10) > 0)
      const sent = Object.fromEntries(names.map((name) => [name, SOUND[name]!]))
      let document = prepared({
        _id: `i${n}`,
        ...sent,
        ...(schema === generating && { changed: 'x' }),
        ...(schema === identifying &&
          chance(2) === 0 && { named: [{ id: 'a' }, { id: pick(['a', 'b'], chance) }] }),
      }).document
      for (let k = chance(3); k > 0; k--) document = changed(document, chance)
      const { document: long, faults } = prepared(document)
      const isSame = faults.length === 0 && JSON.stringify(long) === JSON.stringify(document)
      const isRecognized = isAsStored(schema, document)
      assert.ok(isSame || !isRecognized, JSON.stringify(document))
      counts[isRecognized ? 'recognized' : isSame ? 'missed' : 'others']++
    }
    assert.ok(counts.others > 1_000, JSON.stringify(counts))
    // What is generated anew and identities take the long way.
    if (schema === plain) assert.ok(counts.missed < counts.recognized / 3, JSON.stringify(counts))
    if (schema !== generating) assert.ok(counts.recognized > 500, JSON.stringify(counts))
  })
}

test(`shared members: an update of whole members leaves the original as it is (seed ${SEED})`, () => {
  const chance = chanceFrom(SEED)
  const { document: sound } = prepareDocument(plain, { _id: 'a', ...SOUND }, sourcesForTest())
  const text = JSON.stringify(sound)
  let shared = 0
  for (let n = 0; n < 1_000; n++) {
    const named = () =>
      pick(['text', 'i', 'd', 'free', 'tags', 'place', 'lines', 'place.city', 'free.a'], chance)
    const operand = (): Json => (chance(3) === 0 ? { $valueof: named() } : pick(VALUES, chance))
    const steps = Array.from({ length: 1 + chance(3) }, (): JsonObject => {
      const kind = chance(4)
      if (kind === 0) return { $unset: named() }
      if (kind === 1) return { $add: { [pick(['i', 'd', 'decimal'], chance)]: 1 } }
      return { $set: { [named()]: operand() } }
    })
    const update = tried(() => resolveUpdate(parseUpdate(steps, '', DEFAULT_LIMITS), rootScope(plain)))
    if (!update || !writesWholeMembers(update)) continue
    shared++
    const apply = compileUpdate(update, ({ path }) => n % 2 === 0 && path === 'place.city')
    const original = parseTrusted(text) as JsonObject
    const [copy, other] = [{ ...original }, parseTrusted(text) as JsonObject]
    assert.equal(
      outcome(() => apply(copy)),
      outcome(() => apply(other)),
    )
    assert.equal(JSON.stringify(copy), JSON.stringify(other), JSON.stringify(steps))
    assert.equal(JSON.stringify(original), text, JSON.stringify(steps))
  }
  assert.ok(shared > 200, `${shared} updates`)
})

/** Sets, removes, moves or adds a member, of the document or of one inside. */
function changed(document: JsonObject, chance: (n: number) => number): JsonObject {
  const entries = Object.entries(document)
  if (entries.length === 0) return { city: 'z' }
  const at = chance(entries.length)
  const [name, value] = entries[at]!
  switch (chance(6)) {
    case 0:
      return Object.fromEntries(entries.toSpliced(at, 1))
    case 1:
      return Object.fromEntries([...entries.toSpliced(at, 1), [name, value]])
    case 2:
      return { ...document, [pick(['other', 'other#', 'i', 'named'], chance)]: pick(VALUES, chance) }
    case 3:
      if (name === 'place' && isObject(value)) return { ...document, place: changed(value, chance) }
      return { ...document, [name]: value }
    default:
      return { ...document, [name]: pick(VALUES, chance) }
  }
}

let generated = 0

function sourcesForTest(): Sources {
  const faults = faultBudget(DEFAULT_LIMITS)
  const generate = (): Json => `20240102T03:04:05.${String(generated++ % 1_000).padStart(3, '0')}+0000`
  return { faults, usesDefaults: true, uuid: () => 'uuid', id: () => 'id', generate }
}

function pick<T>(from: readonly T[], chance: (n: number) => number): T {
  return from[chance(from.length)]!
}

function tried<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

function outcome(work: () => void): string {
  try {
    work()
    return 'done'
  } catch (error) {
    return String(error)
  }
}
