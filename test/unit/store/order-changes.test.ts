/** The order of changes of a document, derived from versions that clocks of several machines made. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type ChangeRow,
  documentKey,
  orderChanges,
  unclearDocuments,
} from '../../../src/store/postgres/events/commit-order.ts'
import { chanceFrom } from '../../support/seeded.ts'
import { SEED } from '../../support/seed.ts'

/** `1>2` changes version 1 into 2, `>1` inserts, `1>` deletes; `/` begins another document, `@` sets the time. */
function rowsFrom(text: string): readonly (ChangeRow & { readonly name: string })[] {
  return text.split(' ').map((name) => {
    const [, doc = 'a', seen, version, at = '0'] = /^(?:(\w+)\/)?(\d*)>(\d*)(?:@(\d+))?$/.exec(name)!
    const numberOf = (each: string | undefined) => (each ? Number(each) : undefined)
    return { name, entity: 't', doc, seen: numberOf(seen), version: numberOf(version), at: Number(at) }
  })
}

const CASES: readonly (readonly [rule: string, ordered: string])[] = [
  ['a chain is followed', '>1 1>2 2>5 5>9'],
  ['what went before is not needed', '4>5 5>6'],
  ['changes that nobody watches may be missing', '>1 3>4 7>8'],
  ['a delete after changes that nobody watches comes last', '>1 2>3 5>'],
  ['an insert follows a delete', '4>5 5> >7 7>8'],
  ['an insert follows a delete also when its clock is behind', '40>50 50> >7 7>8 8>'],
  ['a life that goes on is the last', '>55 55> >50 50>51'],
  ['lives that are over follow each other by their clocks', '>1 1> >3 3>4 4> >6 6>'],
  ['two events of one change stay together', '>1 >1 1>2 1>2 2> 2> >4 >4'],
  ['without inserts', '1>2 2> 5>6 6>7'],
  ['times of a document never go back', '>1@9 1>2@5 b/>7@9'],
  ['different documents come in the order of their times', 'b/1>2@1 >1@2 c/1>@3 1>2@4'],
]

for (const [rule, ordered] of CASES) {
  test(`order: ${rule}`, () => {
    const rows = rowsFrom(ordered)
    const chance = chanceFrom(SEED)
    for (let round = 0; round < 50; round++) {
      const shuffled = rows.map((row) => ({ row, at: chance(1e9) })).sort((a, b) => a.at - b.at)
      const names = orderChanges(shuffled.map(({ row }) => row)).map(({ name }) => name)
      const ownOf = (all: readonly string[], doc: string) => all.filter((name) => name.startsWith(doc))
      if (ordered.includes('@')) {
        for (const doc of ['b/', 'c/']) assert.deepEqual(ownOf(names, doc), ownOf(ordered.split(' '), doc))
        const [own, expected] = [names, ordered.split(' ')].map((all) =>
          all.filter((name) => !name.includes('/')),
        )
        assert.deepEqual(own, expected)
      } else assert.deepEqual(names, ordered.split(' '))
      if (rule.startsWith('different')) assert.deepEqual(names, ordered.split(' '))
    }
  })
}

test('order: entities that share an _id have nothing to do with each other', () => {
  const one = { entity: 'one', doc: 'a', seen: 5, version: undefined, at: 2 }
  const other = { entity: 'other', doc: 'a', seen: undefined, version: 9, at: 1 }
  assert.deepEqual(orderChanges([one, other]), [other, one])
})

const BEFORE = { entity: 't', doc: 'a' }

test('order: an insert with a version below the last numbered one follows the delete', () => {
  const rows = rowsFrom('>7 50>')
  assert.deepEqual(unclearDocuments(rows), ['a'])
  const names = (reached: number | undefined): readonly string[] =>
    orderChanges(rows, new Map(reached === undefined ? [] : [[documentKey(BEFORE), reached]])).map(
      ({ name }) => name,
    )
  assert.deepEqual(names(50), ['50>', '>7'])
  assert.deepEqual(names(undefined), ['>7', '50>'])
})

test('order: a document is clear without an insert, or if each version was written by one of the changes', () => {
  for (const text of ['>7', '4>5 8>', '>1 1>2 2>', '>1 1> >2'])
    assert.deepEqual(unclearDocuments(rowsFrom(text)), [])
})

test('order: random lives without gaps come out as chains', () => {
  const chance = chanceFrom(SEED)
  for (let round = 0; round < 300; round++) {
    const rows: (ChangeRow & { readonly place: number })[] = []
    const reached = chance(2) === 0 ? 10_010 + 1_000 * chance(30) : undefined
    let version = reached
    const add = (next: number | undefined): void => {
      rows.push({ entity: 't', doc: 'a', seen: version, version: next, at: chance(3), place: rows.length })
      version = next
    }
    for (let i = 0; i < 12; i++) {
      // the clock of whoever inserts may be far behind, but no two changes ever make the same version
      if (version === undefined) add(1_000 * chance(50) + 100 + 20 * i)
      else add(chance(4) === 0 ? undefined : version + 1)
    }
    const ordered = orderChanges(
      rows
        .map((row) => ({ row, at: chance(1e9) }))
        .sort((a, b) => a.at - b.at)
        .map(({ row }) => row),
      new Map(reached === undefined ? [] : [[documentKey(BEFORE), reached]]),
    )
    assert.equal(ordered[0]!.seen, reached)
    for (const [i, row] of ordered.entries()) if (i > 0) assert.equal(row.seen, ordered[i - 1]!.version)
    assert.equal(ordered.length, rows.length)
  }
})

test('order of changes: a document that came and went many times takes no time that grows with its square', () => {
  const rows = (lives: number): readonly ChangeRow[] =>
    Array.from({ length: lives }, (_, i): readonly ChangeRow[] => [
      { entity: 'e', doc: 'd', at: 1, seen: undefined, version: 2 * i + 1 },
      { entity: 'e', doc: 'd', at: 1, seen: 2 * i + 1, version: undefined },
    ]).flat()
  const used = (lives: number): number => {
    const made = rows(lives)
    const before = process.cpuUsage()
    assert.equal(orderChanges(made).length, 2 * lives)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  }
  const best = (lives: number): number => Math.min(used(lives), used(lives), used(lives))
  const [small, large] = [best(2_000), best(16_000)]
  assert.ok(large < 20 * Math.max(small, 20), `${small} ms, ${large} ms`)
})
