/** What a projection can let out, asked of its items by their steps, is what asking all items one by one gives. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Path } from '../../../src/base/path.ts'
import type { Projection, ProjectionItem } from '../../../src/lang/projection.ts'
import { commonDepth, compileIncludes } from '../../../src/lang/resolve/projected-fields.ts'
import type { FieldRef } from '../../../src/lang/resolve/scope.ts'
import type { Field } from '../../../src/schema/field.ts'
import { SEED } from '../../support/seed.ts'

type Item = ProjectionItem<FieldRef>

const pattern = fc.array(fc.constantFrom<string | number>('a', 'b', '*', 0, -1), { maxLength: 4 })
const plain: fc.Arbitrary<Item> = fc.record({
  kind: fc.constant('field'),
  pattern,
  include: fc.boolean(),
  recursive: fc.boolean(),
})
const items = (depth: number): fc.Arbitrary<Projection<FieldRef>> =>
  fc.array(depth === 0 ? plain : fc.oneof(plain, arrayItem(depth)), { maxLength: 6 })
const arrayItem = (depth: number): fc.Arbitrary<Item> =>
  fc
    .record({ pattern, include: fc.boolean(), projection: items(depth - 1) })
    .map((item) => ({ ...item, kind: 'range', from: 0, to: 1, sort: [], array: undefined }) as never)
const path = fc.array(fc.constantFrom('a', 'b', '*'), { minLength: 1, maxLength: 5 })

test('includes: a field is let out by the steps of its path as it is by all items one by one', () => {
  let included = 0
  fc.assert(
    fc.property(items(2), path, fc.boolean(), (projection, steps, isArray) => {
      const field = { kind: isArray ? 'array' : 'simple', path: steps.join('.') } as Field
      const expected = reaches(projection, isArray ? [...steps, '*'] : steps)
      assert.equal(compileIncludes(projection)(field), expected)
      included += Number(expected)
    }),
    { seed: SEED, numRuns: 20_000 },
  )
  assert.ok(included > 2_000, String(included))
})

/** From the last item to the first: the first one with an opinion decides. */
function reaches(projection: Projection<FieldRef>, steps: Path): boolean {
  for (const [i, item] of [...projection.entries()].toReversed()) {
    if (!overlaps(item.pattern, steps)) continue
    const rest = steps.slice(item.pattern.length)
    if (item.kind !== 'field') {
      if (rest.length === 0) continue
      if (rest.length === 1 || reaches(item.projection, rest.slice(1))) return true
      const element = steps.slice(0, item.pattern.length + 1)
      if (!isOverruled(projection.slice(i + 1), element)) return false
      continue
    }
    if (item.pattern.length > steps.length && !item.include) continue
    if (rest.length > 0 && !item.recursive) continue
    if (!item.include && item.pattern.some((step) => typeof step === 'number')) continue
    return item.include
  }
  return false
}

function isOverruled(later: Projection<FieldRef>, element: Path): boolean {
  return later.some(
    (item) =>
      item.kind === 'field' &&
      item.include &&
      overlaps(item.pattern, element) &&
      (item.recursive || item.pattern.length >= element.length),
  )
}

function overlaps(pattern: Path, path: Path): boolean {
  return commonDepth(pattern, path) === Math.min(pattern.length, path.length)
}
