/** Filters and `$now` in every request that has a condition, over HTTP. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { type Answer, type TestServer, startTestServer } from '../support/server.ts'
import { EVERYTHING, metadataDocument, openTestService } from '../support/service.ts'
import { onEveryStore } from '../support/store-kind.ts'

const FIELDS: JsonObject = {
  name: { type: 'string' },
  city: { type: 'string' },
  salary: { type: 'bigdecimal', access: { find: ['hr'] } },
  since: { type: 'date' },
  seen: { type: 'date' },
  dates: { type: 'array', items: { type: 'date' } },
  visits: {
    type: 'array',
    items: { type: 'object', fields: { at: { type: 'date' }, by: { type: 'string' } } },
  },
  trip: { type: 'object', fields: { begun: { type: 'date' } } },
  more: { type: 'any' },
}

const PEOPLE: Json = [
  { _id: '1', name: 'Ann', city: 'Bern', salary: 7100, since: '2000-01-01T00:00:00Z', visits: [{ by: 'x' }] },
  { _id: '2', name: 'Bob', city: 'Basel', salary: 6200, since: '2999-01-01T00:00:00Z' },
  { _id: '3', name: 'Cy', city: 'Bern', salary: 5300 },
]

const PROJECTION: JsonObject = { field: '_id' }

onEveryStore(() => {
  let server: TestServer

  before(async () => {
    server = await startTestServer()
    await server.define('person', FIELDS)
    await refill()
  })
  after(() => server[Symbol.asyncDispose]())

  async function refill(): Promise<void> {
    await server.ask('POST', '/data/delete/person', { body: { filter: 'true' } })
    const answer = await server.ask('PUT', '/data/insert/person', { body: { data: PEOPLE } })
    assert.equal(answer.json.modifiedCount, 3, answer.text)
  }

  const idsOf = ({ json }: Answer): readonly string[] =>
    json.processed.map(({ _id }: { readonly _id: string }) => _id)
  const messageOf = ({ json }: Answer): string => json.errors[0].msg

  test('find: a filter selects what the same query does, also when it is asked again', async () => {
    for (const city of ['Bern', 'Basel', 'Bern', 'Basel', 'Thun']) {
      const body = { filter: `city = "${city}" and not name = "Cy"`, projection: PROJECTION }
      const answer = await server.ask('POST', '/data/find/person', { body })
      assert.deepEqual(idsOf(answer), { Bern: ['1'], Basel: ['2'], Thun: [] }[city])
    }
  })

  test('find: a stream takes a filter', async () => {
    const body = { filter: 'city = "Bern"', projection: PROJECTION }
    const { text } = await server.ask('POST', '/data/find/person?stream=true', { body })
    assert.deepEqual(
      [...text.matchAll(/"_id":"(\d)"/g)].map(([, id]) => id),
      ['1', '3'],
    )
  })

  test('find: GET takes filter, in place of Q', async () => {
    const filter = encodeURIComponent('city = "Bern" and name ~ /^a/i')
    assert.deepEqual(idsOf(await server.ask('GET', `/data/find/person?filter=${filter}&P=_id:1`)), ['1'])
    assert.deepEqual(idsOf(await server.ask('GET', `/data/find/person/1.0.0?filter=%20`)), ['1', '2', '3'])
    const both = await server.ask('GET', `/data/find/person?filter=true&Q=city:Bern`)
    assert.equal(both.status, 400)
    assert.match(messageOf(both), /"Q" and "filter" are two spellings/)
  })

  test('explain: a filter is explained as the query that it is', async () => {
    const query = { field: 'city', op: '$eq', rvalue: 'Bern' }
    const answers = [
      await server.ask('POST', '/data/explain/person', {
        body: { filter: 'city = "Bern"', projection: PROJECTION },
      }),
      await server.ask('GET', `/data/explain/person?filter=${encodeURIComponent('city = "Bern"')}`),
    ]
    for (const { json } of answers) assert.deepEqual(json.processed[0].request.query, query)
  })

  test('update, delete: a filter selects documents', async () => {
    const update = { filter: 'city = "Bern"', update: { $set: { name: 'x' } }, projection: PROJECTION }
    const updated = await server.ask('POST', '/data/update/person', { body: update })
    assert.deepEqual(idsOf(updated), ['1', '3'])
    const deleted = await server.ask('POST', '/data/delete/person', { body: { filter: 'name = "x"' } })
    assert.equal(deleted.json.modifiedCount, 2)
    await refill()
  })

  test('bulk: entries take filters', async () => {
    const request = { entity: 'person', filter: 'city = "Basel"', projection: PROJECTION }
    const requests = [
      { seq: 1, op: 'find', request },
      { seq: 2, op: 'find', request: { ...request, filter: 'city =' } },
      { seq: 3, op: 'explain', request },
    ]
    const { json } = await server.ask('POST', '/data/bulk', { body: { requests } })
    const [found, refused, explained] = json.responses.map(({ response }: { response: unknown }) => response)
    assert.deepEqual(found.processed, [{ _id: '2' }])
    assert.match(refused.errors[0].msg, /\(at line 1, column 7\)$/)
    assert.equal(explained.matchCount, 1)
  })

  test('saved search: its query may be a filter, whose texts have placeholders', async () => {
    const saved = {
      name: 'near',
      entity: 'person',
      parameters: [{ name: 'city' }, { name: 'day', type: 'date' }],
      query: 'city = "${city}" and not since > "${day}" and since <= now()',
    }
    const roles = ['admin']
    const inserted = await server.ask('PUT', '/data/insert/savedSearch', { body: { data: saved }, roles })
    assert.equal(inserted.json.status, 'COMPLETE', inserted.text)
    const body = { city: 'Bern', day: '2020-01-01T00:00:00Z' }
    assert.deepEqual(idsOf(await server.ask('POST', '/data/search/person/near', { body })), ['1'])
    const injected = await server.ask('POST', '/data/search/person/near', {
      body: { ...body, city: 'Bern" or true or city = "' },
    })
    assert.deepEqual(injected.json.processed, [])
  })

  /** Body, status and message. */
  const REFUSED: readonly (readonly [rule: string, body: JsonObject, status: number, message: RegExp])[] = [
    ['both spellings', { filter: 'true', query: { $and: [] } }, 400, /two spellings of one condition/],
    ['an object', { filter: { field: 'city' } }, 400, /"filter" must be a string, such as/],
    ['an empty text', { filter: '' }, 400, /expected a condition.*\(at line 1, column 1\)/],
    ['a mistake', { filter: 'city = "Bern"\nand and' }, 400, /expected a condition.*\(at line 2, column 5\)/],
    ['an unknown field', { filter: 'not town = 1' }, 400, /no field "town" \(at line 1, column 5\)/],
    ['a value of another type', { filter: 'true and since = 5' }, 400, /type date.*\(at line 1, column 10\)/],
    ['a field that is not readable', { filter: 'salary > 0' }, 403, /you may not read "salary"/],
    ['now() for a text', { filter: 'name = now()' }, 400, /"name" is of type string/],
  ]
  for (const [rule, body, status, message] of REFUSED) {
    test(`find: refused as a filter is ${rule}`, async () => {
      const answer = await server.ask('POST', '/data/find/person', {
        body: { projection: PROJECTION, ...body },
      })
      assert.equal(answer.status, status, answer.text)
      assert.match(messageOf(answer), message)
    })
  }

  test('insert, save: a filter has no meaning', async () => {
    for (const [method, operation] of [
      ['PUT', 'insert'],
      ['POST', 'save'],
    ] as const) {
      const body = { data: { name: 'x' }, filter: 'true' }
      const answer = await server.ask(method, `/data/${operation}/person`, { body })
      assert.equal(answer.status, 400)
      assert.match(messageOf(answer), /"filter" has no meaning in/)
    }
  })

  for (const now of [{ $now: true }, { $now: 1 }]) {
    test(`$now: dates are compared with the time of the request, ${JSON.stringify(now)}`, async () => {
      for (const query of [
        { field: 'since', op: '<', rvalue: now },
        {
          $not: {
            $or: [
              { field: 'since', op: '>', rvalue: now },
              { field: 'since', op: '=', rvalue: null },
            ],
          },
        },
        {
          $and: [
            { field: 'since', op: '$nin', values: [null, now] },
            { field: 'since', op: '<=', rvalue: now },
          ],
        },
      ]) {
        const body = { query, projection: PROJECTION }
        for (let i = 0; i < 3; i++)
          assert.deepEqual(idsOf(await server.ask('POST', '/data/find/person', { body })), ['1'])
      }
    })

    test(`$now: an update writes the time of the request, once, ${JSON.stringify(now)}`, async () => {
      const before = new Date()
      const body = {
        filter: '_id = "1"',
        update: [
          { $set: { since: now, trip: { begun: now }, more: { a: now } } },
          { $append: { dates: [now, now] } },
          { $foreach: { visits: '$all', $update: { $set: { at: now } } } },
        ],
        projection: EVERYTHING,
      }
      const { json, text } = await server.ask('POST', '/data/update/person', { body })
      const [{ since, trip, dates, visits, more }] = json.processed
      assert.deepEqual([trip.begun, ...dates, visits[0].at], [since, since, since, since], text)
      assert.deepEqual(more, { a: now })
      const written = since.replace(/^(\d{4})(\d\d)(\d\d)/, '$1-$2-$3').replace('+0000', 'Z')
      assert.ok(before <= new Date(written) && new Date(written) <= new Date(), since)
      for (const operation of ['<', '>']) {
        const later = { query: { field: 'since', op: operation, rvalue: now }, projection: PROJECTION }
        assert.deepEqual(idsOf(await server.ask('POST', '/data/find/person', { body: later })), [
          operation === '<' ? '1' : '2',
        ])
      }
      await refill()
    })
  }

  test('$now: a time that is no date is refused, and so is one in a document', async () => {
    const set = (field: string, value: Json) => ({
      filter: 'true',
      update: { $set: { [field]: value } },
    })
    for (const body of [
      set('name', { $now: true }),
      set('since', { $now: false }),
      set('since', { $now: 0 }),
    ]) {
      const answer = await server.ask('POST', '/data/update/person', { body })
      assert.equal(answer.json.errors?.[0].errorCode, 'metadata:IncompatibleValue', answer.text)
    }
    const inserted = await server.ask('PUT', '/data/insert/person', {
      body: { data: { since: { $now: true } } },
    })
    assert.equal(inserted.json.dataErrors[0].errors[0].errorCode, 'metadata:IncompatibleValue')
  })

  test('$now: metadata has no time, so a row rule with it is refused', async () => {
    const access = { find: [{ role: 'anyone', where: { field: 'since', op: '<', rvalue: { $now: true } } }] }
    const body = metadataDocument('late', FIELDS, { schema: { access } })
    const answer = await server.ask('PUT', '/metadata/late/1.0.0', { body })
    assert.equal(answer.status, 422, answer.text)
  })
})

onEveryStore(() => {
  test('$now: all entries of a bulk have one time', async () => {
    let ticks = 0
    const now = (): Date => new Date(Date.UTC(2024, 0, 1) + ticks++ * 1000)
    await using tester = await openTestService({ now })
    await tester.define('person', FIELDS)
    await tester.store('person', PEOPLE)
    const caller = { principal: 'x', roles: new Set<string>(), permissions: new Set<never>(), claims: {} }
    for (const atomic of [false, true]) {
      const requests = [1, 2, 3].map((seq) => ({
        seq,
        op: 'update',
        request: {
          entity: 'person',
          filter: `_id = "${seq}" and since != now()`,
          update: { $set: { seen: { $now: true } } },
          projection: { field: 'seen' },
        },
      }))
      const text = await tester.service.data.bulk(caller, { requests, atomic })
      const seen = [...text.matchAll(/"seen":"([^"]+)"/g)].map(([, date]) => date)
      assert.equal(seen.length, 3, text)
      assert.equal(new Set(seen).size, 1, text)
    }
  })
})
