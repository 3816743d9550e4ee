/** A path that is an integer in one version and a double in another: what is one group, one value, and one order. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Caller } from '../../../src/access/caller.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import {
  ADMIN,
  ANYONE,
  type TestService,
  callerWith,
  documentsOf,
  json,
  jsonObject,
  metadataDocument,
  openTestService,
} from '../../support/service.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const AS_INTEGER = '1.0.0'
const AS_DOUBLE = '2.0.0'
const TYPES = [
  [AS_INTEGER, 'integer'],
  [AS_DOUBLE, 'double'],
] as const

const DOCUMENTS: Readonly<Record<string, readonly string[]>> = {
  [AS_INTEGER]: [
    '{"_id":"a","n":9007199254740992,"lines":[{"n":9007199254740992}]}',
    '{"_id":"b","n":9007199254740993,"lines":[{"n":9007199254740993}]}',
  ],
  [AS_DOUBLE]: [
    '{"_id":"c","n":9007199254740992,"lines":[{"n":9007199254740992}]}',
    '{"_id":"d","n":0.5,"lines":[{"n":0.5}]}',
  ],
}

interface Case {
  readonly name: string
  readonly request: string
  readonly asInteger: readonly string[]
  readonly asDouble: readonly string[]
}

/** `n` stands for the path; each is asked of the document and of elements. */
const CASES: readonly Case[] = [
  {
    name: 'through a double, numbers of one double are one group; through an integer, each number is one',
    request: '{"groupBy":[{"field":"n","as":"k"}],"values":{"c":{"$count":true}}}',
    asInteger: ['{"k":0.5,"c":1}', '{"k":9007199254740992,"c":2}', '{"k":9007199254740993,"c":1}'],
    asDouble: ['{"k":0.5,"c":1}', '{"k":9.007199254740992e+15,"c":3}'],
  },
  {
    name: 'sums and averages are exact through an integer, and those of doubles through a double',
    request: '{"values":{"sum":{"$sum":"n"},"avg":{"$avg":"n"}}}',
    asInteger: ['{"sum":27021597764222977.5,"avg":6755399441055744.375}'],
    asDouble: ['{"sum":2.7021597764222976e+16,"avg":6755399441055744}'],
  },
  {
    name: 'so are extremes and different values',
    request: '{"values":{"min":{"$min":"n"},"max":{"$max":"n"},"different":{"$distinct":"n"}}}',
    asInteger: ['{"min":0.5,"max":9007199254740993,"different":3}'],
    asDouble: ['{"min":0.5,"max":9.007199254740992e+15,"different":2}'],
  },
  {
    name: 'having compares what the result has',
    request:
      '{"groupBy":[{"field":"n","as":"k"}],"having":{"field":"k","op":"=","rvalue":9007199254740993},"values":{"c":{"$count":true}}}',
    asInteger: ['{"k":9007199254740993,"c":1}'],
    asDouble: ['{"k":9.007199254740992e+15,"c":3}'],
  },
  {
    name: 'having compares a sum that is no integer, digit for digit',
    request: '{"values":{"sum":{"$sum":"n"}},"having":{"field":"sum","op":">","rvalue":27021597764222976}}',
    asInteger: ['{"sum":27021597764222977.5}'],
    asDouble: [],
  },
  {
    name: 'groups are sorted by what the result has',
    request:
      '{"groupBy":[{"field":"n","as":"k"}],"values":{"m":{"$max":"n"}},"sort":{"m":"$desc"},"range":[0,1]}',
    asInteger: ['{"k":9007199254740993,"m":9007199254740993}', '{"k":9007199254740992,"m":9007199254740992}'],
    asDouble: ['{"k":9.007199254740992e+15,"m":9.007199254740992e+15}', '{"k":0.5,"m":0.5}'],
  },
]

/** Admitted to documents whose number is among those of a claim. */
const reader = (...numbers: readonly string[]): Caller => ({
  ...callerWith('reader'),
  claims: { numbers: numbers.map(json) },
})

onEveryStore(() => {
  let tester: TestService
  before(async () => {
    tester = await openTestService()
    await define('reading')
  })
  after(() => tester[Symbol.asyncDispose]())

  async function define(entity: string): Promise<void> {
    const rule = { role: 'reader', where: { field: 'n', op: '$in', values: ['$caller.claims.numbers'] } }
    for (const [version, type] of TYPES) {
      const lines = { type: 'array', items: { type: 'object', fields: { n: { type } } } }
      const schema = {
        version: { value: version, changelog: 'made' },
        access: { ...ANYONE, find: ['boss', rule] },
      }
      const fields = { _id: { type: 'string' }, n: { type }, lines }
      const metadata = metadataDocument(entity, fields, { schema })
      await tester.service.metadata.create(ADMIN, { entity, version }, metadata)
      const data = DOCUMENTS[version]!.map(jsonObject)
      const { status } = await tester.service.data.insert(callerWith('boss'), { entity, version }, { data })
      assert.equal(status, 'COMPLETE')
    }
  }

  async function aggregate(caller: Caller, entity: string, version: string, request: string) {
    const { processed, errors } = await tester.service.data.aggregate(
      caller,
      { entity, version },
      jsonObject(request),
    )
    return processed ?? errors
  }

  async function found(entity: string, version: string, body: JsonObject): Promise<readonly Json[]> {
    const request = { projection: { field: '_id' }, ...body }
    const response = await tester.service.data.find(callerWith('boss'), { entity, version }, request)
    return documentsOf(response).map(({ _id }) => _id!)
  }

  for (const { name, request, asInteger, asDouble } of CASES) {
    void test(`aggregate: ${name}`, async () => {
      for (const path of ['n', 'lines.*.n', 'lines.0.n']) {
        const asked = request.replaceAll('"n"', `"${path}"`)
        assert.deepEqual(await aggregate(callerWith('boss'), 'reading', AS_INTEGER, asked), asInteger, path)
        assert.deepEqual(await aggregate(callerWith('boss'), 'reading', AS_DOUBLE, asked), asDouble, path)
      }
    })
  }

  void test('aggregate: a row rule with a claim admits to the numbers that a find would find', async () => {
    const count = '{"groupBy":[{"field":"n","as":"k"}],"values":{"c":{"$count":true}}}'
    const ask = (version: string, ...numbers: readonly string[]) =>
      aggregate(reader(...numbers), 'reading', version, count)
    assert.deepEqual(await ask(AS_INTEGER, '9007199254740992'), ['{"k":9007199254740992,"c":2}'])
    assert.deepEqual(await ask(AS_INTEGER, '9007199254740993', '5'), ['{"k":9007199254740993,"c":1}'])
    assert.deepEqual(await ask(AS_DOUBLE, '9007199254740992', '0.5'), [
      '{"k":0.5,"c":1}',
      '{"k":9.007199254740992e+15,"c":2}',
    ])
  })

  void test('find: pages by cursor go through integers and doubles in one order', async () => {
    for (const [version] of TYPES) {
      for (const field of ['n', 'lines.*.n']) {
        for (const [direction, expected] of [
          ['$asc', ['d', 'a', 'c', 'b']],
          ['$desc', ['b', 'a', 'c', 'd']],
        ] as const) {
          const sort = { [field]: direction }
          assert.deepEqual(await found('reading', version, { sort }), expected)
          const pages: Json[] = []
          let after: string | undefined
          do {
            const body = { sort, projection: { field: '_id' }, page: { size: 1, ...(after && { after }) } }
            const target = { entity: 'reading', version }
            const response = await tester.service.data.find(callerWith('boss'), target, body)
            pages.push(...documentsOf(response).map(({ _id }) => _id!))
            after = response.next
          } while (after)
          assert.deepEqual(pages, expected, `${version} ${field} ${direction}`)
        }
      }
    }
  })

  void test('aggregate, find: an index on a double has what a disabled version stored as integers', async () => {
    await define('indexed')
    const info = { name: 'indexed', defaultVersion: AS_DOUBLE }
    const { metadata } = tester.service
    await metadata.updateInfo(ADMIN, 'indexed', info)
    await metadata.setStatus(ADMIN, { entity: 'indexed', version: AS_INTEGER }, { status: 'disabled' })
    const indexes = [{ fields: [{ field: 'n' }] }, { fields: [{ field: 'lines.*.n' }] }]
    await metadata.updateInfo(ADMIN, 'indexed', { ...info, indexes })
    for (const field of ['n', 'lines.*.n']) {
      const query = (op: string) => ({ query: { field, op, rvalue: json('9007199254740992') } })
      assert.deepEqual(await found('indexed', AS_DOUBLE, query('=')), ['a', 'c'])
      assert.deepEqual(await found('indexed', AS_DOUBLE, query('>')), ['b'])
      assert.deepEqual(await found('indexed', AS_DOUBLE, { sort: { [field]: '$desc' } }), [
        'b',
        'a',
        'c',
        'd',
      ])
      const counted = `{"groupBy":[{"field":"${field}","as":"k"}],"values":{"c":{"$count":true}}}`
      assert.deepEqual(await aggregate(callerWith('boss'), 'indexed', AS_DOUBLE, counted), [
        '{"k":0.5,"c":1}',
        '{"k":9.007199254740992e+15,"c":3}',
      ])
    }
  })
})
