/** `execution` as clients of Lightblue send it, and 0 and 1 in place of booleans. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { parseTrusted } from '../../src/base/json/parse-trusted.ts'
import { printResponse } from '../../src/service/response.ts'
import { ADMIN, documentsOf } from '../support/service.ts'
import { type Tenant, openTenant } from '../support/shared-service.ts'
import { onEveryStore } from '../support/store-kind.ts'

async function open(): Promise<Tenant> {
  const tester = await openTenant()
  await tester.define(tester.entity, {
    name: { type: 'string' },
    at: { type: 'object', fields: { x: { type: 'integer' } } },
  })
  await tester.store(tester.entity, [{ _id: '1', name: 'Ann', at: { x: 1 } }])
  return tester
}

const EXECUTIONS: readonly JsonObject[] = [
  { readPreference: 'nearest' },
  { readPreference: 'secondaryPreferred', writeConcern: 'majority' },
  { readPreference: { mode: 'nearest', tags: [] }, writeConcern: 1 },
  { maxQueryTimeMS: 5000 },
  { maxQueryTimeMS: '5000' },
  { maxQueryTimeMS: 5000, maxTimeMs: 5000 },
  { maxQueryTimeMS: null, readPreference: null, writeConcern: null },
  { atomic: 1 },
]

const WHERE = { field: 'name', op: '=', rvalue: 'Ann' }
const OPERATIONS: readonly ['find' | 'explain' | 'insert' | 'save' | 'update' | 'delete', JsonObject][] = [
  ['find', { query: WHERE, projection: { field: 'name' } }],
  ['explain', { query: WHERE, projection: { field: 'name' } }],
  ['insert', { data: { name: 'Bob' } }],
  ['save', { data: { _id: '1', name: 'Ann', at: { x: 2 } } }],
  ['update', { query: WHERE, update: { $add: { 'at.x': 1 } } }],
  ['delete', { query: { field: 'name', op: '=', rvalue: 'Bob' } }],
]

onEveryStore(() => {
  test('execution: what clients of Lightblue send is accepted by every operation, alone and in a bulk', async () => {
    await using tester = await open()
    const { data } = tester.service
    for (const execution of EXECUTIONS) {
      for (const [operation, body] of OPERATIONS) {
        const response = await data[operation](ADMIN, { entity: tester.entity }, { ...body, execution })
        assert.equal(response.status, 'COMPLETE', `${operation} ${JSON.stringify(execution)}`)
      }
      const requests = OPERATIONS.map(([op, body], seq) => ({
        seq,
        op,
        request: { entity: tester.entity, ...body, execution },
      }))
      const text = await data.bulk(ADMIN, { requests, execution })
      const { responses } = parseTrusted(text) as unknown as { responses: { response: { status: string } }[] }
      for (const { response } of responses) assert.equal(response.status, 'COMPLETE', text)
    }
  })

  test('execution: maxQueryTimeMS ends a request as maxTimeMs does', async () => {
    await using tester = await open()
    const many = Array.from({ length: 9_000 }, (_, i) => ({ _id: `n${i}`, name: `${i}`.repeat(80) }))
    await tester.store(tester.entity, many)
    const pattern = `(${'.{0,9}'.repeat(9)}x){2}`
    const slow = { query: { field: 'name', regex: pattern }, projection: { field: 'name' } }
    for (const execution of [{ maxTimeMs: 1 }, { maxQueryTimeMS: 1 }, { maxQueryTimeMS: '1' }]) {
      const response = await tester.find(tester.entity, { ...slow, execution })
      assert.equal(response.errors?.[0]?.errorCode, 'store-crud:Timeout', JSON.stringify(execution))
    }
  })

  test('execution: maxTimeMs of a bulk is for all entries together; count and positions are refused', async () => {
    await using tester = await open()
    const many = Array.from({ length: 9_000 }, (_, i) => ({ _id: `n${i}`, name: `${i}`.repeat(80) }))
    await tester.store(tester.entity, many)
    const pattern = `(${'.{0,9}'.repeat(9)}y){2}`
    const slow = { query: { field: 'name', regex: pattern }, projection: { field: 'name' } }
    const requests = [{ seq: 1, op: 'find', request: { entity: tester.entity, ...slow } }]
    for (const atomic of [true, false])
      for (const execution of [{ maxTimeMs: 1 }, { maxQueryTimeMS: '1' }]) {
        const text = await tester.service.data.bulk(ADMIN, { requests, atomic, execution })
        assert.match(text, /store-crud:Timeout/)
      }
    for (const name of ['count', 'positions']) {
      const execution = { [name]: name === 'count' ? 'none' : true }
      await assert.rejects(tester.service.data.bulk(ADMIN, { requests, execution }), {
        code: 'crud:InvalidRequest',
        at: `/execution/${name}`,
      })
    }
    await tester.service.data.bulk(ADMIN, { requests: [], execution: { count: null, positions: null } })
  })

  test('execution: with positions, failed documents are named by their position, without their content', async () => {
    await using tester = await open()
    const documents = [
      { _id: '2', name: 'Bob' },
      { _id: '3', wrong: 1 },
    ]
    for (const operation of ['insert', 'save'] as const)
      for (const atomic of [false, true]) {
        const failuresOf = async (execution: JsonObject): Promise<readonly JsonObject[]> => {
          const body = { data: documents, ...(operation === 'save' && { upsert: true }), execution }
          const response = await tester.service.data[operation](ADMIN, { entity: tester.entity }, body)
          const { dataErrors } = parseTrusted(printResponse(response)) as { dataErrors?: JsonObject[] }
          return (dataErrors ?? []).map((each) => {
            assert.ok(Array.isArray(each['errors']))
            return Object.fromEntries(Object.entries(each).filter(([name]) => name !== 'errors'))
          })
        }
        const plain = await failuresOf({ atomic, dryRun: true })
        const placed = await failuresOf({ atomic, dryRun: true, positions: true })
        const expected = atomic ? [0, 1] : [1]
        assert.deepEqual(
          plain,
          expected.map((i) => ({ data: documents[i] })),
        )
        assert.deepEqual(
          placed,
          expected.map((position) => ({ position })),
        )
      }
  })

  test('execution: the maxTimeMs of an entry is for this entry only, in an atomic bulk, too', async () => {
    await using tester = await open()
    const many = Array.from({ length: 9_000 }, (_, i) => ({ _id: `n${i}`, name: `${i}`.repeat(80) }))
    await tester.store(tester.entity, many)
    const pattern = `(${'.{0,9}'.repeat(9)}z){2}`
    const slow = { query: { field: 'name', regex: pattern }, projection: { field: 'name' } }
    const byId = { field: '_id', op: '=', rvalue: '1' }
    const statuses = async (requests: readonly JsonObject[]): Promise<readonly Json[]> => {
      const entries = requests.map((request, seq) => ({
        seq,
        op: 'find',
        request: { entity: tester.entity, ...request },
      }))
      const text = await tester.service.data.bulk(ADMIN, { requests: entries, atomic: true })
      const { responses } = parseTrusted(text) as unknown as { responses: { response: JsonObject }[] }
      return responses.map(({ response }) => response['status']!)
    }
    const began = performance.now()
    await statuses([slow])
    // less than the slow entry takes, however busy the machine is
    const maxTimeMs = Math.floor((performance.now() - began) * 0.7)
    const quick = { query: byId, projection: { field: 'name' }, execution: { maxTimeMs } }
    assert.deepEqual(await statuses([quick, slow, quick]), ['COMPLETE', 'COMPLETE', 'COMPLETE'])
    const limited = { ...slow, execution: { maxTimeMs: 1 } }
    assert.deepEqual(await statuses([quick, limited, quick]), ['ERROR', 'ERROR', 'ERROR'])
  })

  test('flags: 0 and 1 mean false and true in projections, patterns, save and bulk', async () => {
    await using tester = await open()
    const projected = async (projection: Json): Promise<Json> => {
      const [document] = documentsOf(await tester.find(tester.entity, { projection }))
      return document!
    }
    const whole = { _id: '1', name: 'Ann', at: { x: 1 }, objectType: tester.entity }
    assert.deepEqual(await projected({ field: '*', include: 1, recursive: 1 }), whole)
    assert.deepEqual(await projected([{ field: 'name', recursive: 0 }]), { name: 'Ann' })
    assert.deepEqual(await projected([{ field: 'name' }, { field: 'name', include: 0 }]), {})
    const found = await tester.find(tester.entity, {
      query: { field: 'name', regex: '^ann$', caseInsensitive: 1 },
      projection: { field: 'name' },
    })
    assert.equal(found.matchCount, 1)
    const { data } = tester.service
    const target = { entity: tester.entity }
    const saved = await data.save(ADMIN, target, { data: { _id: '2', name: 'Bob' }, upsert: 1 })
    assert.deepEqual([saved.status, saved.modifiedCount], ['COMPLETE', 1])
    const refused = await data.save(ADMIN, target, { data: { _id: '3', name: 'Cy' }, upsert: 0 })
    assert.equal(refused.status, 'ERROR')
    const requests = [{ seq: 0, op: 'find', request: { ...target, projection: { field: 'name' } } }]
    assert.match(await data.bulk(ADMIN, { ordered: 0, atomic: 1, requests }), /COMPLETE/)
  })
})
