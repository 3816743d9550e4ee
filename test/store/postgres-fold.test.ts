/** That PostgreSQL folds case as Smalt and RE2 do. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { NO_FLAGS, compilePattern } from '../../src/base/pattern.ts'
import { foldCase } from '../../src/base/text.ts'
import { createFoldFunction, foldFunctionName } from '../../src/store/sql/postgres-fold.ts'
import { sample } from '../support/chance.ts'
import { testPostgresUrl } from '../support/postgres.ts'
import { SEED } from '../support/seed.ts'

let client: pg.Client

before(async () => {
  client = new pg.Client(await testPostgresUrl())
  await client.connect()
  await client.query(createFoldFunction('pg_temp'))
})

after(() => client.end())

const CHARACTERS = charactersUpTo(0x10ffff)
const FOLDED = CHARACTERS.map(foldCase)
const WITH_CASE = charactersUpTo(0x1ffff).filter((character) =>
  /\p{Changes_When_Casemapped}/u.test(character),
)

test('fold: PostgreSQL folds every character as foldCase does', async () => {
  const changed = CHARACTERS.flatMap((character, i) => (FOLDED[i] === character ? [] : [i]))
  const { rows } = await client.query(
    `select to_hex(point) as wrong
     from generate_series(1, 1114111) point left join unnest($1::int[], $2::text[]) c(changed, folded) on changed = point
     where point not between 55296 and 57343
       and pg_temp.${foldFunctionName()}(chr(point)) collate "C" <> coalesce(folded, chr(point))`,
    [changed.map((i) => CHARACTERS[i]!.codePointAt(0)), changed.map((i) => FOLDED[i])],
  )
  assert.deepEqual(rows, [])
})

test('fold: PostgreSQL folds every letter as foldCase does, whatever letters stand before it', async () => {
  // each takes another way through the function
  for (const before of ['A', 'é', 'É', 'Σ', 'ẞ', '日', '𐐀']) {
    const folded = await foldAll(WITH_CASE.map((letter) => before + letter))
    const wrong = WITH_CASE.filter((letter, i) => folded[i] !== foldCase(before + letter))
    assert.deepEqual(wrong.map(name), [])
  }
})

test('fold: PostgreSQL folds whole texts as foldCase does', async () => {
  const letters = Array.from('aZ09 _\'"\\$ÉéÑſ\u212aΣσςΩ\u2126ЖжԱßẞİıǅǆﬅﬆᾳΐ日😀𐐀𐐨𞤀\u0345\n')
  const texts = sample(SEED, (chance) =>
    Array.from({ length: 5_000 }, () => chance.list(20, () => chance.pick(letters)).join('')),
  )
  assert.deepEqual(await foldAll(texts), texts.map(foldCase))
})

test('fold: nothing stays nothing', async () => {
  assert.deepEqual(await foldAll(['']), [''])
  const { rows } = await client.query(`select pg_temp.${foldFunctionName()}(null) is null as "isNull"`)
  assert.deepEqual(rows, [{ isNull: true }])
})

test('fold: an index may be built on it, and the collation of a column does not matter', async () => {
  await client.query(`create temp table names (name text collate "en-x-icu", other text collate "C")`)
  await client.query(`insert into names values ('İSTANBUL É', 'İSTANBUL É')`)
  await client.query(`create index on names (pg_temp.${foldFunctionName()}(name))`)
  const fold = (column: string): string => `pg_temp.${foldFunctionName()}(${column}) as ${column}`
  const { rows } = await client.query(`select ${fold('name')}, ${fold('other')} from names`)
  assert.deepEqual(rows, [{ name: 'İstanbul é', other: 'İstanbul é' }])
})

test('fold: foldCase changes one character into one, and folding twice changes nothing more', () => {
  const changed = FOLDED.filter((folded, i) => folded !== CHARACTERS[i])
  const wrong = changed.filter((folded) => Array.from(folded).length !== 1 || foldCase(folded) !== folded)
  assert.deepEqual(wrong.map(name), [])
})

test('fold: RE2 takes the same characters for one letter as foldCase does', () => {
  const byFolded = Map.groupBy(WITH_CASE, foldCase)
  const wrong = [...byFolded].filter(
    ([folded, variants]) => variants.length > 1 && !isOneLetter(folded, variants),
  )
  assert.deepEqual(
    wrong.map(([folded]) => name(folded)),
    [],
  )
})

test('fold: RE2 takes no two characters for one letter that foldCase keeps apart', () => {
  // two characters differ in some bit, so a pair would show where that bit separates them
  const folded = [...new Set(charactersUpTo(0x1ffff).map(foldCase))]
  for (let bit = 0; bit < 17; bit++) {
    const has = (character: string): boolean => ((character.codePointAt(0)! >> bit) & 1) === 1
    const pattern = compilePattern(`[${folded.filter(has).map(escape).join('')}]`, ANY_CASE)
    const others = folded.filter((character) => !has(character)).join('')
    assert.ok(pattern)
    assert.equal(pattern.occursIn(others), false, `bit ${bit}`)
  }
})

const ANY_CASE = { ...NO_FLAGS, caseInsensitive: true }

function isOneLetter(folded: string, variants: readonly string[]): boolean {
  return variants.every(
    (variant) =>
      compilePattern(escape(variant), ANY_CASE)?.matchesAll(folded) === true &&
      compilePattern(escape(folded), ANY_CASE)?.matchesAll(variant) === true,
  )
}

async function foldAll(texts: readonly string[]): Promise<readonly string[]> {
  const { rows } = await client.query<{ folded: string }>(
    `select pg_temp.${foldFunctionName()}(t) as folded from unnest($1::text[]) with ordinality u(t, n) order by n`,
    [texts],
  )
  return rows.map(({ folded }) => folded)
}

/** All that a text may hold: no NUL, and no half of a surrogate pair. */
function charactersUpTo(last: number): readonly string[] {
  const characters: string[] = []
  for (let point = 1; point <= last; point++) {
    if (point < 0xd800 || point > 0xdfff) characters.push(String.fromCodePoint(point))
  }
  return characters
}

function escape(character: string): string {
  return `\\x{${name(character)}}`
}

function name(character: string): string {
  return character.codePointAt(0)!.toString(16)
}
