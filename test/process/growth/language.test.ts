/** Queries, projections, sorts and updates: from JSON to what is done with a document. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { compileUpdate } from '../../../src/lang/evaluate/apply.ts'
import { parseProjection } from '../../../src/lang/parse/parse-projection.ts'
import { parseQuery } from '../../../src/lang/parse/parse-query.ts'
import { parseUpdate } from '../../../src/lang/parse/parse-update.ts'
import { compileIncludes } from '../../../src/lang/resolve/projected-fields.ts'
import { allFields } from '../../../src/schema/schema.ts'
import { fieldsOfUpdate, resolveUpdate } from '../../../src/lang/resolve/resolve-update.ts'
import { resolveProjection, resolveQuery } from '../../../src/lang/resolve/resolve.ts'
import { checkRule } from '../../../src/lang/resolve/row-rule.ts'
import { rootScope } from '../../../src/lang/resolve/scope.ts'
import { compileStrip } from '../../../src/lang/evaluate/strip.ts'
import { joinBalanced, param, render, sql } from '../../../src/store/sql/fragment.ts'
import { compiledSchema } from '../../support/schema.ts'
import { many, refused, testGrowth } from './growth.ts'

const LIMITS = { ...DEFAULT_LIMITS, queryNodes: Infinity, inValues: Infinity }
const schema = compiledSchema('t', {
  a: { type: 'bigdecimal' },
  text: { type: 'string' },
  numbers: { type: 'array', items: { type: 'integer' } },
  lines: {
    type: 'array',
    items: { type: 'object', fields: { b: { type: 'string' }, c: { type: 'integer' } } },
  },
})
const scope = rootScope(schema)

testGrowth('query', [
  ['parts', 1_000, (n) => querying({ $and: many(n, (i) => compare(i)) })],
  ['depth', 100, (n) => querying(nested(n, (inner) => ({ $not: inner })))],
  ['listed values', 5_000, (n) => querying({ field: 'text', op: '$in', values: many(n, (i) => `v${i}`) })],
  [
    'listed numbers',
    2_000,
    (n) => querying({ field: 'a', op: '$in', values: many(n, (i) => JSON.rawJSON(`${i}.50`)) }),
  ],
  [
    'contained values',
    5_000,
    (n) => querying({ array: 'numbers', contains: '$all', values: many(n, (i) => i) }),
  ],
  ['digits of a value', 25_000, (n) => refused(querying(compare(JSON.rawJSON(`1${'0'.repeat(n)}1`))))],
  ['digits of a text for a number', 25_000, (n) => refused(querying(compare(`1${'0'.repeat(n)}1`)))],
  ['steps of a path', 10_000, (n) => querying({ field: `${'$this.'.repeat(n)}a`, op: '=', rvalue: 1 })],
  ['length of a name', 50_000, (n) => refused(querying({ field: 'x'.repeat(n), op: '=', rvalue: 1 }))],
  [
    'steps of a placeholder',
    50_000,
    (n) => () => checkRule(compare(`$caller.claims${'.a'.repeat(n)}`), '', { scope, limits: LIMITS }),
  ],
])

testGrowth('projection', [
  ['paths', 1_000, (n) => projecting(many(n, (i) => ({ field: `lines.${i}.b` })))],
  [
    'array projections',
    500,
    (n) => projecting(many(n, () => ({ field: 'lines', range: [0, 1], sort: { c: '$asc' } }))),
  ],
  ['steps of a path', 10_000, (n) => projecting([{ field: `lines${'.*'.repeat(n)}` }])],
  [
    'fields that many items are asked about',
    250,
    (n) => {
      const wide = compiledSchema('t', Object.fromEntries(many(n, (i) => [`f${i}`, { type: 'string' }])))
      const written = many(n, (i) => ({ field: `f${i}`, include: i % 2 === 0 }))
      return () => {
        const isIncluded = compileIncludes(resolveProjection(parseProjection(written, '', LIMITS), scope))
        return [...allFields(wide.root.fields)].filter(isIncluded)
      }
    },
  ],
])

testGrowth('update', [
  [
    'steps',
    500,
    (n) =>
      updating(
        many(n, (i) => ({ $set: { text: `t${i}` } })),
        {},
      ),
  ],
  ['appended values', 5_000, (n) => updating({ $append: { numbers: many(n, (i) => i) } }, {})],
  ['appended objects', 2_000, (n) => updating({ $append: { lines: many(n, (i) => ({ b: `${i}` })) } }, {})],
  [
    'inserted values',
    5_000,
    (n) => updating({ $insert: { 'numbers.0': many(n, (i) => i) } }, { numbers: [1] }),
  ],
  [
    'elements behind what is inserted',
    20_000,
    (n) => updating({ $insert: { 'numbers.0': [1] } }, { numbers: many(n, (i) => i) }),
  ],
  [
    'names in loops',
    500,
    (n) => {
      const selector = { $and: many(n, (i) => ({ field: 'c', op: '=', rvalue: i })) }
      const update = { $foreach: { lines: selector, $update: { $set: { b: 'x' } } } }
      return () => fieldsOfUpdate(resolved(update))
    },
  ],
  [
    'members of a literal',
    2_000,
    (n) => updating({ $set: { lines: many(n, (i) => ({ b: 'x', c: i })) } }, {}),
  ],
])

testGrowth('strip', [
  [
    'elements',
    5_000,
    (n) => {
      const strip = compileStrip(schema.root.fields, ({ name }) => name === 'b')!
      const document = { lines: many(n, (i) => ({ b: 'x', c: i })) }
      return () => strip(document)
    },
  ],
])

testGrowth('statements', [
  [
    'parameters',
    2_000,
    (n) => () =>
      render(
        joinBalanced(
          many(n, (i) => sql`x = ${param(i)}`),
          ' or ',
        ),
        () => '?',
      ),
  ],
])

function compare(rvalue: Json): JsonObject {
  return { field: 'a', op: '=', rvalue }
}

function nested(depth: number, around: (inner: JsonObject) => JsonObject): JsonObject {
  let query = compare(1)
  for (let i = 0; i < depth; i++) query = around(query)
  return query
}

function querying(query: Json): () => unknown {
  return () => resolveQuery(parseQuery(query, '', LIMITS), scope)
}

function projecting(projection: Json): () => unknown {
  return () => resolveProjection(parseProjection(projection, '', LIMITS), scope)
}

function resolved(update: Json) {
  return resolveUpdate(parseUpdate(update, '', LIMITS), scope)
}

/** Each run gets a document of its own. */
function updating(update: Json, document: JsonObject): () => unknown {
  return () => compileUpdate(resolved(update), () => false)(structuredClone(document))
}
