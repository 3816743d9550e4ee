/** The shape of a query has none of its literals: they can be any others, and the shape stays the same. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Json, type JsonObject, isArray, isObject } from '../../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { parseQuery } from '../../../src/lang/parse/parse-query.ts'
import { fieldsOf } from '../../../src/lang/query.ts'
import { printShape, withoutPositions } from '../../../src/lang/text/print-shape.ts'
import { printPath } from '../../../src/lang/text/words.ts'
import { shapeOfRequest } from '../../../src/service/slow/request-shape.ts'
import { sample } from '../../support/chance.ts'
import { SEED } from '../../support/seed.ts'
import { makeSchema } from './make-documents.ts'
import { makeRequest } from './make-requests.ts'
import { withPredefined } from './model.ts'

const CASES = 20_000
const PER_SCHEMA = 50

/** No name and no word of the language contains it. */
const MARK = 'zQ7literal'

/** The same query with a literal of its own in the place of each. */
function marked(query: Json, key = ''): Json {
  if (key === 'rvalue' || key === 'regex') return MARK
  if (key === 'values') return [MARK, `${MARK}2`, 7_123_456_789]
  if (isArray(query)) return query.map((each) => marked(each))
  if (!isObject(query)) return query
  return Object.fromEntries(Object.entries(query).map(([name, each]) => [name, marked(each, name)]))
}

test(`shapes: no literal of ${CASES} random queries is in their shapes (SMALT_SEED=${SEED})`, () => {
  let queries = 0
  for (let i = 0; i < CASES; i++) {
    const root = withPredefined(sample(SEED + Math.floor(i / PER_SCHEMA), makeSchema))
    const body: JsonObject = sample(SEED + i, (chance) => makeRequest(chance, root))
    const { query, sort } = body
    if (!isObject(query)) continue
    queries++
    const about = `seed ${SEED + i}: ${JSON.stringify(query)}`
    const parsed = parseQuery(query, '', DEFAULT_LIMITS)
    const shape = printShape(parsed)
    const other = marked(query)
    assert.ok(!JSON.stringify(other).includes('"values":[]'), about)
    const otherShape = printShape(parseQuery(other, '', DEFAULT_LIMITS))
    assert.equal(otherShape, shape, about)
    assert.ok(!otherShape.includes(MARK) && !otherShape.includes('7123456789'), about)
    for (const { path } of fieldsOf(parsed))
      assert.ok(shape.includes(withoutPositions(printPath(path))), about)
    const told = JSON.stringify(
      shapeOfRequest({ ...body, query: other, ...(sort !== undefined && { sort }) }, LOOKED_UP),
    )
    assert.ok(!told.includes(MARK), about)
  }
  assert.ok(queries > CASES / 2)
})

const LOOKED_UP = { operation: 'find', limits: DEFAULT_LIMITS, indexes: () => [] }
