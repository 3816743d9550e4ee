/** Queries, projections, patterns and updates whose work multiplies. */
import type { JsonObject } from '../../../src/base/json/json.ts'
import type { Chance } from '../../support/seeded.ts'
import { COUNT } from './expensive-documents.ts'
import { ID, times } from './row.ts'

export function expensiveQuery(chance: Chance): JsonObject {
  switch (chance(12)) {
    case 0:
      return { array: 'a', elemMatch: nestedMatch(chance, 1 + chance(3)) }
    case 1:
      return { field: 'nums.*', op: ['=', '<', '!='][chance(3)]!, rfield: 'others.*' }
    case 2:
      return { field: 'a.*.b.*.z', op: '=', rfield: 'nums.*' }
    case 3:
      return { field: ['long', 'texts.*', 'a.*.t'][chance(3)]!, regex: expensivePattern(chance) }
    case 4:
      return { $or: times(1 + chance(400), (i) => ({ field: 'nums.*', op: '=', rvalue: -i })) }
    case 5:
      return deep(chance)
    case 6:
      return { array: 'nums', contains: '$all', values: times(chance(500), (i) => i) }
    case 7:
      return {
        $and: [
          { field: 'k', op: '=', rvalue: chance(COUNT) },
          { array: 'a', elemMatch: nestedMatch(chance, 2) },
        ],
      }
    default:
      return { field: 'k', op: '=', rvalue: chance(COUNT) }
  }
}

/** About an element of `a`: every level looks at all elements again. */
function nestedMatch(chance: Chance, depth: number): JsonObject {
  if (depth > 0) return { array: '$parent.a', elemMatch: nestedMatch(chance, depth - 1) }
  if (chance(2) === 0) return { field: 'x', op: '=', rvalue: -1 }
  return { field: 't', regex: expensivePattern(chance) }
}

function deep(chance: Chance): JsonObject {
  let query: JsonObject = { field: 'k', op: '=', rvalue: 1 }
  // at times deeper than it may be
  for (let i = chance(70); i > 0; i--) query = chance(2) === 0 ? { $not: query } : { $and: [query] }
  return query
}

export function expensivePattern(chance: Chance): string {
  const patterns: readonly (() => string)[] = [
    () => `[a-m][a-z ]{${chance(1_100)}}[0-9]`,
    () => `(?i)(?:[a-z]{${chance(40)}}){${chance(40)}}[0-9]`,
    () => `${'.*[a-c]'.repeat(1 + chance(40))}7$`,
    () => `(a|b|ab|ba)*(b|a|aa)*${chance(10)}$`,
    () => `((a{0,${chance(30)}}){0,${chance(30)}}){0,${chance(30)}}[0-9]`,
    () => `(?i)(ü|straße|k)+\\pL{${chance(100)}}\\d`,
    () => `(${times(1 + chance(60), (i) => `x${i}y`).join('|')})+$`,
  ]
  return patterns[chance(patterns.length)]!()
}

export function expensiveProjection(chance: Chance): JsonObject {
  switch (chance(6)) {
    case 0:
      return { field: 'a', match: nestedMatch(chance, 1 + chance(2)), projection: ID }
    case 1:
      return {
        field: 'a',
        match: { field: 'x', op: '>=', rvalue: 0 },
        sort: [{ t: '$desc' }, { x: '$asc' }],
        projection: {
          field: 'b',
          match: nestedMatchInside(chance),
          sort: { w: '$desc' },
          projection: { field: 'z' },
        },
      }
    case 2:
      return { field: 'texts', match: { field: '$this', regex: expensivePattern(chance) } }
    case 3:
      return { field: '*', recursive: true }
    default:
      return ID
  }
}

/** About an element of `b`: up to the document, and through `a` again. */
function nestedMatchInside(chance: Chance): JsonObject {
  const elemMatch = { field: 't', op: '=', rvalue: `none ${chance(9)}` }
  return { $not: { array: '$parent.$parent.a', elemMatch } }
}

export function expensiveUpdate(chance: Chance): JsonObject {
  switch (chance(6)) {
    case 0:
      return {
        $foreach: { a: '$all', $update: { $foreach: { '$parent.a': '$all', $update: { $add: { y: 1 } } } } },
      }
    case 1:
      return { $foreach: { a: nestedMatch(chance, 1 + chance(2)), $update: { $set: { y: 1 } } } }
    case 2:
      return { $append: { nums: times(chance(300), () => 0) } }
    case 3:
      return { $insert: { 'nums.0': times(chance(100), () => 0) } }
    case 4:
      return { $foreach: { nums: { field: '$this', op: '>', rvalue: 100 }, $update: '$remove' } }
    default:
      return { $set: { others: { $valueof: 'nums' }, 'a.0.t': 'changed' } }
  }
}
