/** The parts of the page that need no browser: exact JSON, places of errors, graphs, filters, sorts and metrics. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataClient } from '../../../ui/client/data-client.ts'
import { fieldOf } from '../../../ui/client/failure.ts'
import { ExactNumber, type Json, numberIn, parseJson, printJson } from '../../../ui/client/json.ts'
import type { Sent, Transport } from '../../../ui/client/transport.ts'
import { valueAt } from '../../../ui/schema/columns.ts'
import { toRfc3339, toShortDate } from '../../../ui/schema/dates.ts'
import { differences, partAt, withPart } from '../../../ui/schema/draft.ts'
import { graphOf } from '../../../ui/schema/graph.ts'
import { pointerIn, spanOf } from '../../../ui/schema/json-pointer.ts'
import { withLineEndsOf, withLineFeeds } from '../../../ui/schema/line-ends.ts'
import { suggestionsFor } from '../../../ui/views/data/filter-suggestions.ts'
import { parseSort, printSort, toggleSort } from '../../../ui/views/data/sorting.ts'
import { parseMetrics, pointBetween, routeFacts } from '../../../ui/views/status/metrics.ts'
import { slowFacts } from '../../../ui/views/status/slow.ts'

const TEXTS = [
  '{"a":7100.50,"b":[1,-0,1e3,123456789012345678901234567890],"c":"1.0","d":null,"e":true}',
  '{"small":0.1,"exact":0.10,"max":9007199254740993}',
]
for (const text of TEXTS) {
  test(`json: ${text} keeps every digit`, () => assert.equal(printJson(parseJson(text)), text))
}

test('json: only numbers that would change are kept as text', () => {
  assert.equal(typeof numberIn('12.5'), 'number')
  assert.ok(numberIn('12.50') instanceof ExactNumber)
  for (const text of ['', '1.', '.5', '01', 'x', '1 ', 'Infinity'])
    assert.equal(numberIn(text), undefined, text)
})

test('errors: the field is what follows the operation', () => {
  const at = (context: string): string => fieldOf({ context, errorCode: '', msg: '' })
  assert.equal(at('insert(country:1.0.0)/jobs.0.years'), 'jobs.0.years')
  assert.equal(at('insert(country:1.0.0)'), '')
})

test('errors: a pointer leads to its value in the text, or to the nearest one around it', () => {
  const text = '{\n "schema": {"fields": {"a": {"type": "strin"}, "b~/": [1, {"x": 2}]}}}'
  const found = (pointer: string): string => {
    const { from, to } = spanOf(text, pointer)
    return text.slice(from, to)
  }
  assert.equal(found('/schema/fields/a/type'), '"strin"')
  assert.equal(found('/schema/fields/b~0~1/1/x'), '2')
  assert.equal(found('/schema/fields/a/constraints/max'), '{"type": "strin"}')
  assert.equal(found('/nothing'), text)
  assert.equal(pointerIn('there is no type "strin" (at /schema/fields/a/type)'), '/schema/fields/a/type')
  assert.deepEqual(spanOf('{"a": ', '/a'), { from: 0, to: 6 })
  // as it is being typed
  assert.deepEqual(spanOf(String.raw`{"\u0": 1, "a": 2}`, '/a'), { from: 16, to: 17 })
})

test('dates: the stored form becomes RFC 3339, and a short one', () => {
  assert.equal(toRfc3339('20260102T03:04:05.678+0000'), '2026-01-02T03:04:05.678Z')
  assert.equal(toRfc3339('20260102T03:04:05.678+0130'), '2026-01-02T03:04:05.678+01:30')
  assert.equal(toShortDate('20260102T00:00:00.000+0000'), '2026-01-02')
  assert.equal(toRfc3339('something'), 'something')
})

test('history: the latest versions are read, and one more to compare them with', async () => {
  const asked: string[] = []
  const send = (_method: string, _path: string, { query }: Sent = {}): Promise<Json> => {
    const from = Number(query!['from'])
    asked.push(`${from} ${query!['maxResults']}`)
    const processed = Array.from({ length: 10 }, (_, i) => i).slice(from, from + Number(query!['maxResults']))
    return Promise.resolve({ matchCount: 10, processed })
  }
  const { history } = dataClient({ send } as unknown as Transport)
  const latest = (count: number): Promise<unknown> => history({ entity: 'e' }, '1', count)
  assert.deepEqual(await latest(3), { versions: [7, 8, 9], before: 6, older: 7 })
  assert.deepEqual(asked, ['0 4', '6 4'])
  assert.deepEqual(await latest(9), { versions: [1, 2, 3, 4, 5, 6, 7, 8, 9], before: 0, older: 1 })
  assert.deepEqual(await latest(10), { versions: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], older: 0 })
  assert.equal(asked.length, 4)
})

test('drafts: a member that the document lacks is not taken from every object of JavaScript', () => {
  assert.equal(valueAt({ a: {} }, 'a.toString'), undefined)
  assert.equal(partAt({}, ['constructor', 'name']), undefined)
  assert.deepEqual(differences({}, { toString: 1 }), [{ path: 'toString', before: undefined, after: 1 }])
})

test('drafts: parts are replaced and removed without changing the original', () => {
  const before = { a: { b: [1, 2] }, c: 1 }
  assert.deepEqual(withPart(before, ['a', 'b', 0], undefined), { a: { b: [2] }, c: 1 })
  assert.deepEqual(withPart(before, ['a', 'x', 'y'], 3), { a: { b: [1, 2], x: { y: 3 } }, c: 1 })
  assert.deepEqual(withPart(before, ['c'], undefined), { a: { b: [1, 2] } })
  assert.deepEqual(before, { a: { b: [1, 2] }, c: 1 })
})

test('differences: by path, without the sizes of arrays', () => {
  const before = { a: 1, list: [1, 2], 'list#': 2, o: { x: 'a' } }
  const after = { a: 1, list: [1], 'list#': 1, o: { x: 'b' }, n: null }
  assert.deepEqual(
    differences(before, after).map(({ path }) => path),
    ['list', 'o.x', 'n'],
  )
})

test('graph: layers from left to right, and edges that close a cycle', () => {
  const employee = { name: 'employee', dependencies: [{ name: 'team' }, { name: 'employee' }] }
  const team = { name: 'team', dependencies: [{ name: 'employee', dependencies: [{ name: 'team' }] }] }
  const { layers, edges } = graphOf([employee, team, { name: 'alone' }])
  assert.deepEqual(layers.flat().sort(), ['alone', 'employee', 'team'])
  assert.equal(edges.length, 3)
  assert.equal(edges.filter(({ isCycle }) => isCycle).length, 2)
})

const COLUMNS = [
  { path: 'city', width: 1, field: { type: 'string', constraints: { enum: 'cities' } } },
  { path: 'active', width: 1, field: { type: 'boolean' } },
  { path: 'skills', width: 1, field: { type: 'array', items: { type: 'string' } } },
  { path: 'in', width: 1, field: { type: 'integer' } },
]
const INFO = { enums: [{ name: 'cities', values: ['Bern', 'Biel'] }] }
const SUGGESTED: readonly (readonly [typed: string, from: number, first: readonly string[]])[] = [
  ['', 0, ['city', 'active', 'skills.*', '`in`']],
  ['ci', 0, ['city']],
  ['city ', 5, ['=', '!=']],
  ['city = ', 7, ['"Bern"', '"Biel"', 'null']],
  ['city = "Bi', 7, ['"Biel"']],
  ['city = "Bern" ', 14, ['and', 'or']],
  ['city = "Bern" and a', 18, ['active']],
  ['active = ', 9, ['true', 'false']],
  ['not (sk', 5, ['skills.*']],
]
for (const [typed, from, first] of SUGGESTED) {
  test(`filter: after ${JSON.stringify(typed)} comes ${first.join(', ')}`, () => {
    const found = suggestionsFor(typed, { columns: COLUMNS, info: INFO })
    assert.equal(found.from, from)
    assert.deepEqual(
      found.items.slice(0, first.length).map(({ text }) => text),
      first,
    )
  })
}

test('sort: ascending, descending, none; others stay where they are added to', () => {
  const one = toggleSort([], 'a', false)
  const two = toggleSort(one, 'b', true)
  assert.equal(printSort(toggleSort(two, 'a', true)), '-a,b')
  assert.equal(printSort(toggleSort(parseSort('-a,b'), 'a', true)), 'b')
  assert.equal(printSort(toggleSort(parseSort('-a,b'), 'c', false)), 'c')
  for (const path of ['a,b', '-a', '50%', '%2C'])
    assert.deepEqual(parseSort(printSort([{ path, isDescending: true }])), [{ path, isDescending: true }])
})

test('metrics: rates, latencies and routes come from what grew', () => {
  const text = (count: number): string => `# HELP x
smalt_http_requests_total{method="GET",route="/a",status="200"} ${count}
smalt_http_requests_total{method="GET",route="/a",status="500"} ${count / 10}
smalt_http_request_duration_seconds_sum{method="GET",route="/a"} ${count / 100}
smalt_http_request_duration_seconds_count{method="GET",route="/a"} ${count}
smalt_http_request_duration_seconds_bucket{le="0.01",method="GET",route="/a"} ${count / 2}
smalt_http_request_duration_seconds_bucket{le="0.1",method="GET",route="/a"} ${count}
smalt_http_request_duration_seconds_bucket{le="+Inf",method="GET",route="/a"} ${count}
`
  const [before, after] = [
    { at: 0, samples: parseMetrics(text(100)) },
    { at: 2_000, samples: parseMetrics(text(200)) },
  ]
  const point = pointBetween(before, after)
  assert.deepEqual([point.requests, point.failures, point.latencyMs, point.p95Ms], [55, 5, 10, 100])
  assert.deepEqual(routeFacts(after), [{ route: 'GET /a', count: 220, failures: 20, meanMs: 10 }])
})

test('metrics: slow routes and store operations come first, quick ones not at all', () => {
  const bucket = (labels: string, counts: readonly number[], of = 'http_request'): string =>
    ['0.1', '1', '30', '+Inf']
      .map((le, i) => `smalt_${of}_duration_seconds_bucket{${labels},le="${le}"} ${counts[i]}`)
      .join('\n')
  const text = [
    bucket('method="GET",route="/quick"', [9, 9, 9, 9]),
    bucket('method="POST",route="/slow"', [96, 98, 100, 100]),
    bucket('operation="find"', [1, 1, 2, 4], 'store'),
  ].join('\n')
  assert.deepEqual(slowFacts({ at: 0, samples: parseMetrics(text) }), [
    { name: 'store: find', count: 4, overTenth: 3, overSecond: 3, p95Seconds: undefined },
    { name: 'POST /slow', count: 100, overTenth: 4, overSecond: 2, p95Seconds: 0.1 },
  ])
})

for (const [before, typed, after] of [
  ['a\r\nb\nc\rd', 'a\nb\nXc\nd', 'a\r\nb\nXc\rd'],
  ['a\r\nb', 'a\nnew\nb', 'a\r\nnew\r\nb'],
  ['a\r\nb', 'ab', 'ab'],
  ['a\r\n\r\nb', 'a\nb', 'a\r\nb'],
  ['a\r\nb', '', ''],
  ['a\nb', 'a\nb\r', 'a\nb\r'],
] as const) {
  test(`line ends: ${JSON.stringify(before)}, typed into, becomes ${JSON.stringify(after)}`, () => {
    assert.equal(withLineEndsOf(before, typed), after)
    assert.equal(withLineEndsOf(before, withLineFeeds(before)), before)
  })
}
