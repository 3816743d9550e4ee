/** Runs the tables about documents that are sent: types, constraints, generators, predefined fields. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Json, type JsonObject, sameJson } from '../../../src/base/json/json.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import { printResponse } from '../../../src/service/response.ts'
import {
  EVERYTHING,
  codeOf,
  dataErrorCodes,
  documentsOf,
  failedDocumentsOf,
  json,
  jsonObject,
  openTestService,
  textOf,
} from '../../support/service.ts'
import { type Tenant, openTenant, shareService } from '../../support/shared-service.ts'
import { D1, FIELDS } from './fixture.ts'
import { CONSTRAINED, CONSTRAINT_CASES, CONVERSIONS } from './stored.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const TYPES = [...new Set(CONVERSIONS.map(([type]) => type))]
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

onEveryStore(() => {
  test('insert: values convert without loss or are refused', async (t) => {
    await using tester = await openTenant()
    await tester.define(tester.entity, Object.fromEntries(TYPES.map((type) => [type, { type }])))
    for (const [type, sent, stored] of CONVERSIONS) {
      await t.test(
        `${type}: ${sent} ${stored === undefined ? 'is refused' : `becomes ${stored}`}`,
        async () => {
          const response = await tester.insert(tester.entity, {
            data: { [type]: json(sent) },
            projection: { field: type, recursive: true },
          })
          if (stored === undefined) {
            assert.deepEqual(dataErrorCodes(response), [['metadata:IncompatibleValue']])
            assert.equal(response.modifiedCount, 0)
          } else assert.deepEqual(response.processed, [`{"${type}":${stored}}`])
        },
      )
    }
  })

  test('insert: constraints', async (t) => {
    await using tester = await openTenant()
    const enums = [{ name: 'colours', values: ['red', 'green'] }]
    await tester.define(tester.entity, CONSTRAINED, { info: { enums } })
    for (const [rule, document, faults] of CONSTRAINT_CASES) {
      await t.test(rule, async () => {
        const response = await tester.insert(tester.entity, { data: jsonObject(document) })
        const found = (response.dataErrors ?? []).flatMap(({ errors }) =>
          errors.map(({ errorCode, context }) => `${errorCode} ${context}`),
        )
        const expected = faults.map(([code, path]) => `${code} insert(${tester.entity}:1.0.0)/${path}`)
        assert.deepEqual(found.sort(), expected.sort(), printResponse(response))
        assert.equal(response.status, faults.length > 0 ? 'ERROR' : 'COMPLETE')
        assert.equal(response.modifiedCount, faults.length > 0 ? 0 : 1)
      })
    }
  })

  const AT_A_MOMENT = { now: () => new Date('2024-01-02T03:04:05.678Z') }
  const openAtAMoment = shareService(AT_A_MOMENT)

  async function openFixture(fields: JsonObject = FIELDS): Promise<Tenant> {
    const tester = await openAtAMoment()
    await tester.define(tester.entity, fields)
    return tester
  }

  /** Apart, because sequences are for all entities: these begin at their beginning. */
  async function openGenerated(): Promise<Tenant> {
    const tester = { ...(await openTestService(AT_A_MOMENT)), entity: 't' }
    await tester.define(tester.entity, GENERATED)
    return tester
  }

  test('insert: objectType, _id and the sizes of all arrays at every depth are added', async () => {
    await using tester = await openFixture()
    const [stored] = await tester.store(tester.entity, [json(D1)])
    const { _id, ...rest } = stored!
    assert.match(textOf(_id), UUID)
    assert.equal(textOf(_id)[14], '7', 'a UUID of version 7')
    const expected = `{"s":"abc","i":3,"o":{"x":"ox","y":5,"a":[1,2],"a#":2},
    "sa":["one","two","three"],"ia":[3,1,2],"ia2":[],
    "oa":[{"id":1,"n":"n1","k":10,"na":[{"p":"p1","q":1},{"p":"p2","q":2}],"na#":2,"si#":0},
      {"id":2,"n":"n2","k":20,"na":[],"na#":0,"si#":0},{"id":3,"n":"n3","na#":0,"si#":0}],
    "sa#":3,"ia#":3,"ia2#":0,"da#":0,"oa#":3,"objectType":"${tester.entity}"}`
    assert.ok(sameJson(rest, json(expected)), JSON.stringify(rest))
  })

  test('insert: sizes that are sent are not believed', async () => {
    await using tester = await openFixture()
    const [stored] = await tester.store(tester.entity, [{ ia: [1], 'ia#': 99, 'sa#': 'x' }])
    assert.equal(stored!['ia#'], 1)
    assert.equal(stored!['sa#'], 0)
  })

  test('insert: null members go, null elements and empty objects stay, any is left alone', async () => {
    await using tester = await openFixture()
    const sent = json(
      '{"_id":"1","s":null,"o":{"x":"a","y":null},"ia":[1,null],"any":{"a":null},"oa":[{"id":1,"n":null},null]}',
    )
    const [stored] = await tester.store(tester.entity, [sent])
    const shown = Object.fromEntries(
      Object.entries(stored!).filter(([name]) => !name.endsWith('#') && name !== 'objectType'),
    )
    const expected =
      '{"_id":"1","o":{"x":"a","a#":0},"ia":[1,null],"any":{"a":null},"oa":[{"id":1,"na#":0,"si#":0},null]}'
    assert.ok(sameJson(shown, json(expected)), JSON.stringify(shown))
  })

  test('insert: uid is made when null, empty, or missing but required', async () => {
    await using tester = await openFixture({
      optional: { type: 'uid' },
      required: { type: 'uid', constraints: { required: true } },
      o: { type: 'object', fields: { u: { type: 'uid', constraints: { required: true } } } },
    })
    const [a, b, c] = await tester.store(
      tester.entity,
      json('[{},{"optional":null,"required":"","o":{}},{"optional":"","required":"x"}]'),
    )
    assert.match(textOf(a!['required']), UUID)
    assert.equal(a!['optional'], undefined)
    assert.equal(a!['o'], undefined, 'a missing object is not made for its sake')
    assert.match(textOf(b!['optional']), UUID)
    assert.match(textOf(b!['required']), UUID)
    assert.match(textOf((b!['o'] as JsonObject)['u']), UUID)
    assert.match(textOf(c!['optional']), UUID)
    assert.equal(c!['required'], 'x')
  })

  const GENERATED: JsonObject = {
    idf: { type: 'string', valueGenerator: { type: 'UUID' }, constraints: { required: true } },
    opt: { type: 'string', valueGenerator: { type: 'UUID' } },
    ow: { type: 'date', valueGenerator: { type: 'CurrentTime', overwrite: true } },
    owr: {
      type: 'date',
      valueGenerator: { type: 'CurrentTime', overwrite: true },
      constraints: { required: true },
    },
    n: {
      type: 'integer',
      constraints: { required: true },
      valueGenerator: { type: 'IntSequence', configuration: { name: 'seq', initialValue: 10, increment: 5 } },
    },
    text: {
      type: 'string',
      valueGenerator: { type: 'IntSequence', configuration: { name: 'texts', initialValue: '50000000' } },
    },
    o: {
      type: 'object',
      fields: { r: { type: 'string', valueGenerator: { type: 'UUID' }, constraints: { required: true } } },
    },
  }
  const NOW = '20240102T03:04:05.678+0000'

  test('generators: fill what is required and missing, nothing else', async () => {
    await using tester = await openGenerated()
    const [stored] = await tester.store(tester.entity, [{}])
    assert.match(textOf(stored!['idf']), UUID)
    assert.equal(stored!['owr'], NOW)
    assert.equal(stored!['n'], 10)
    assert.deepEqual(Object.keys(stored!).sort(), ['_id', 'idf', 'n', 'objectType', 'owr'])
  })

  test('generators: an explicit null asks for a value, a value stays, overwrite replaces', async () => {
    await using tester = await openGenerated()
    const sent = json(
      '[{"opt":null,"text":null,"idf":"","ow":"20200101T00:00:00.000+0000","o":{}},{"n":null},{"n":7}]',
    )
    const [a, b, c] = await tester.store(tester.entity, sent)
    assert.match(textOf(a!['opt']), UUID)
    assert.equal(a!['text'], '50000000', 'a string field gets the digits as text')
    assert.equal(a!['idf'], '', 'an empty text is a value')
    assert.equal(a!['ow'], NOW)
    assert.match(textOf((a!['o'] as JsonObject)['r']), UUID)
    assert.equal(b!['n'], 15)
    assert.equal(c!['n'], 7)
  })

  test('generate: values of the field, one by default, none without a generator', async () => {
    await using tester = await openGenerated()
    const { data } = tester.service
    const caller = { principal: '', roles: new Set<string>(), permissions: new Set<never>(), claims: {} }
    const generate = async (field: string, n?: string): Promise<readonly Json[]> => {
      const response = await data.generate(caller, { entity: tester.entity }, field, n)
      assert.equal(response.status, 'COMPLETE', printResponse(response))
      return (response.processed ?? []).map(parseTrusted)
    }
    assert.deepEqual(await generate('text'), ['50000000'])
    assert.deepEqual(await generate('text', '3'), ['50000001', '50000002', '50000003'])
    assert.deepEqual(await generate('n', '2'), [10, 15])
    assert.deepEqual(await generate('_id', '2'), [])
    for (const n of ['0', '-1', '10001', 'x', '1.5']) {
      assert.equal(
        codeOf(await data.generate(caller, { entity: tester.entity }, 'n', n)),
        'crud:InvalidRequest',
      )
    }
    assert.equal(
      codeOf(await data.generate(caller, { entity: tester.entity }, 'zz', '1')),
      'metadata:InvalidFieldReference',
    )
    assert.equal(
      codeOf(await data.generate(caller, { entity: tester.entity }, 'o', '1')),
      'crud:InvalidRequest',
    )
  })

  test('insert: good documents are stored, bad ones reported with what was sent', async () => {
    await using tester = await openFixture()
    const bad = jsonObject('{"i":"abc","s":"kept as sent"}')
    const response = await tester.insert(tester.entity, {
      data: [{ _id: 'a' }, bad, { _id: 'b' }],
      projection: { field: '_id' },
    })
    assert.equal(response.status, 'PARTIAL')
    assert.equal(response.modifiedCount, 2)
    assert.equal(response.matchCount, 0)
    assert.deepEqual(documentsOf(response), [{ _id: 'a' }, { _id: 'b' }])
    assert.deepEqual(failedDocumentsOf(response), [bad])
  })

  test('insert: atomic means that one failure fails all', async () => {
    await using tester = await openFixture()
    const response = await tester.insert(tester.entity, {
      data: [{ _id: 'a' }, { i: 'x' }],
      execution: { atomic: true },
    })
    assert.equal(response.status, 'ERROR')
    assert.deepEqual(dataErrorCodes(response), [['crud:Rolledback'], ['metadata:IncompatibleValue']])
    assert.equal((await tester.find(tester.entity, { projection: EVERYTHING })).matchCount, 0)
  })

  test('insert: without projection every document is {}', async () => {
    await using tester = await openFixture()
    const response = await tester.insert(tester.entity, { data: [{ s: 'a' }, { s: 'b' }] })
    assert.deepEqual(response.processed, ['{}', '{}'])
  })

  test('insert: data may be one document or none; the range chooses what is shown', async () => {
    await using tester = await openFixture()
    assert.equal((await tester.insert(tester.entity, { data: { s: 'a' } })).modifiedCount, 1)
    const none = await tester.insert(tester.entity, { data: [] })
    assert.deepEqual([none.status, none.modifiedCount, none.processed], ['COMPLETE', 0, []])
    const range = await tester.insert(tester.entity, {
      data: [{ i: 1 }, { i: 2 }, { i: 3 }],
      projection: { field: 'i' },
      range: [1, 1],
    })
    assert.deepEqual([range.modifiedCount, documentsOf(range)], [3, [{ i: 2 }]])
    assert.equal(codeOf(await tester.insert(tester.entity, { data: 'x' })), 'crud:InvalidRequest')
  })

  test('insert: an identity exists once, whatever else the document holds', async () => {
    await using tester = await openFixture({
      a: { type: 'string', constraints: { identity: true } },
      bd: { type: 'bigdecimal', constraints: { identity: true } },
    })
    await tester.store(tester.entity, json('[{"a":"x","bd":1.1}]'))
    const again = await tester.insert(tester.entity, {
      data: json('[{"a":"x","bd":1.10},{"a":"x","bd":1.2}]'),
    })
    assert.deepEqual(dataErrorCodes(again), [['store-crud:Duplicate']])
    assert.equal(again.modifiedCount, 1)
    assert.doesNotMatch(
      printResponse({ ...again, dataErrors: again.dataErrors!.map((each) => ({ ...each, data: 'null' })) }),
      /1\.1/,
    )
  })
})
