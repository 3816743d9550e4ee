/** What is exported and imported into an empty entity of the same schema is equal: every digit, date and text. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { type Chance, sample } from '../../support/chance.ts'
import { runCommand } from '../../support/command.ts'
import { SEED } from '../../support/seed.ts'
import { metadataDocument } from '../../support/service.ts'
import { startSmalt } from '../../support/smalt-process.ts'
import { freshPlace, onEveryStore } from '../../support/store-kind.ts'

const SCHEMAS = 4
const DOCUMENTS = 40

onEveryStore(() => {
  test(`export, import: equal documents for ${SCHEMAS} random schemas (SMALT_SEED=${SEED})`, async (t) => {
    t.diagnostic(`SMALT_SEED=${SEED}`)
    const cwd = mkdtempSync(join(tmpdir(), 'smalt-equal-'))
    t.after(() => rmSync(cwd, { recursive: true, force: true }))
    await using place = await freshPlace()
    await using smalt = await startSmalt(place.location)
    const run = async (...args: readonly string[]): Promise<string> => {
      const { code, out, err } = await runCommand([...args, '--url', smalt.url], { cwd })
      assert.equal(code, 0, `smalt ${args.join(' ')}: ${err}`)
      return out
    }
    for (let i = 0; i < SCHEMAS; i++) {
      // CSV has no nulls outside of its JSON columns
      const hasNulls = i % 2 === 1
      const formats = hasNulls ? ['ndjson', 'json'] : ['ndjson', 'csv', 'json']
      const { fields, documents } = sample(SEED + i, (chance) => worldOf(chance, hasNulls))
      for (const name of ['from', ...formats]) {
        const body = metadataDocument(`${name}${i}`, fields)
        const { status, text } = await smalt.ask('PUT', `/metadata/${name}${i}/1.0.0`, body)
        assert.equal(status, 200, text)
      }
      const stored = await smalt.ask('PUT', `/data/insert/from${i}`, { data: documents })
      assert.equal(stored.json.status, 'COMPLETE', stored.text)
      const original = await run('export', '--entity', `from${i}`)
      assert.equal(original.split('\n').length, DOCUMENTS + 1)
      for (const format of formats) {
        const file = `${i}.${format}`
        await run('export', '--entity', `from${i}`, '--format', format, '--output', file)
        await run('import', file, '--entity', `${format}${i}`, '--batch', '7')
        const again = await run('export', '--entity', `${format}${i}`)
        const about = (): string => `schema ${i} as ${format}:\n${readFileSync(join(cwd, file), 'utf8')}`
        assert.equal(again, original, about())
      }
    }
  })
})

/** Values whose text or digits a careless reader or writer would change. */
const VALUES: Readonly<Record<string, readonly Json[]>> = {
  string: [
    '',
    'a,b',
    '"q"',
    'two\nlines',
    '\r\n',
    ' padded ',
    'é😀',
    '007',
    'true',
    'null',
    '{"a":1}',
    '\uFEFF',
  ],
  integer: [0, -7, raw('9223372036854775807'), raw('-9223372036854775808')],
  bigdecimal: [raw('1.10'), raw('0.000'), raw('-12345678901234567890.50'), raw('1e-30'), 3],
  biginteger: [1, raw('123456789012345678901234567890')],
  double: [0.1, -2.5, 1e300, 5e-7, 100],
  boolean: [true, false],
  date: ['2024-02-29T23:59:59.999Z', '1969-12-31T00:00:00+01:00', '0001-01-01T00:00:00Z'],
  uid: ['u1', '00 7'],
  binary: ['', 'AAEC', '/w=='],
  any: [5, 'x', '', '5', true, [1, null, []], {}, { a: { b: raw('1.50') } }],
}
const TYPES = Object.keys(VALUES)

interface World {
  readonly fields: JsonObject
  readonly documents: readonly JsonObject[]
}

function worldOf(chance: Chance, hasNulls: boolean): World {
  const members = membersOf(chance, 2)
  const id = chance.pick(['string', 'integer'])
  const documents = Array.from({ length: DOCUMENTS }, (_, k) => ({
    _id: id === 'integer' ? k : `d ${String(k).padStart(3, '0')}`,
    ...objectOf(chance, members, hasNulls),
  }))
  return { fields: { _id: { type: id }, ...fieldsOf(members) }, documents }
}

type Member =
  | { readonly kind: 'simple'; readonly type: string }
  | { readonly kind: 'object'; readonly members: Members }
  | { readonly kind: 'list'; readonly item: Member }
type Members = readonly (readonly [name: string, member: Member])[]

const NAMES = ['a', 'b c', 'é', 'x:y', 'n-1', 'data', 'value']

function membersOf(chance: Chance, depth: number): Members {
  return NAMES.filter(() => chance.happens(70)).map((name) => [name, memberOf(chance, depth)])
}

function memberOf(chance: Chance, depth: number): Member {
  const choice = depth === 0 ? 0 : chance.int(6)
  if (choice === 4)
    return { kind: 'object', members: [['only', simple('string')], ...membersOf(chance, depth - 1)] }
  if (choice !== 5) return simple(chance.pick(TYPES))
  const isNested = chance.happens(40)
  const members: Members = [['only', simple('integer')], ...membersOf(chance, 0)]
  // no array has elements of any type
  const types = TYPES.filter((type) => type !== 'any')
  return { kind: 'list', item: isNested ? { kind: 'object', members } : simple(chance.pick(types)) }
}

function simple(type: string): Member {
  return { kind: 'simple', type }
}

function fieldsOf(members: Members): JsonObject {
  return Object.fromEntries(members.map(([name, member]) => [name, fieldOf(member)]))
}

function fieldOf(member: Member): JsonObject {
  if (member.kind === 'simple') return { type: member.type }
  if (member.kind === 'object') return { type: 'object', fields: fieldsOf(member.members) }
  return { type: 'array', items: fieldOf(member.item) }
}

/** CSV has no empty objects either, so each object has a member. */
function objectOf(chance: Chance, members: Members, hasNulls: boolean): JsonObject {
  const some = members.filter(([name]) => name === 'only' || chance.happens(75))
  return Object.fromEntries(
    some.map(([name, member]) => [
      name,
      hasNulls && chance.happens(15) ? null : valueOf(chance, member, hasNulls),
    ]),
  )
}

function valueOf(chance: Chance, member: Member, hasNulls: boolean): Json {
  if (member.kind === 'simple') return chance.pick(VALUES[member.type]!)
  if (member.kind === 'object') return objectOf(chance, member.members, hasNulls)
  const element = (): Json => (chance.happens(10) ? null : valueOf(chance, member.item, hasNulls))
  return Array.from({ length: chance.int(4) }, element)
}

function raw(text: string): Json {
  return JSON.rawJSON(text)
}
