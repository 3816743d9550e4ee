/** Runs the tables about updates on D1. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type JsonObject, sameJson } from '../../../src/base/json/json.ts'
import { type DataResponse, printResponse } from '../../../src/service/response.ts'
import {
  ADMIN,
  EVERYTHING,
  type TestService,
  codeOf,
  dataErrorCodes,
  documentsOf,
  failedDocumentsOf,
  json,
  jsonObject,
  openTestService,
} from '../../support/service.ts'
import { D1 } from '../corpus/fixture.ts'
import { CHANGES } from './changes.ts'
import { FAILURES, REFUSALS } from './failures.ts'
import { FIELDS } from './fixture.ts'
import { onEveryStore } from '../../support/store-kind.ts'

onEveryStore(() => {
  let tester: TestService
  let cases = 0

  before(async () => {
    tester = await openTestService()
    await tester.define('t', FIELDS)
  })
  after(() => tester[Symbol.asyncDispose]())

  async function stored(given = '{}'): Promise<JsonObject> {
    const document = { ...jsonObject(D1), ...jsonObject(given), _id: `${++cases}` }
    return (await tester.store('t', [document]))[0]!
  }

  const only = ({ _id }: JsonObject): JsonObject => ({ field: '_id', op: '=', rvalue: _id! })

  async function update(document: JsonObject, text: string): Promise<DataResponse> {
    const body = { query: only(document), update: json(text), projection: EVERYTHING }
    return tester.service.data.update(ADMIN, { entity: 't' }, body)
  }

  async function held(document: JsonObject): Promise<JsonObject> {
    return documentsOf(await tester.find('t', { query: only(document), projection: EVERYTHING }))[0]!
  }

  function changed(document: JsonObject, becomes: string): JsonObject {
    const members = Object.entries({ ...document, ...jsonObject(becomes) })
    return Object.fromEntries(members.filter(([, value]) => value !== null))
  }

  for (const { rule, update: text, becomes, given } of CHANGES) {
    test(`update: ${rule}`, async () => {
      const document = await stored(given)
      const expected = changed(document, becomes)
      const response = await update(document, text)
      assert.equal(response.status, 'COMPLETE', printResponse(response))
      assert.ok(sameJson(documentsOf(response)[0], expected), printResponse(response))
      const isChange = !sameJson(document, expected)
      assert.deepEqual([response.matchCount, response.modifiedCount], [1, isChange ? 1 : 0])
      assert.ok(sameJson(await held(document), expected), 'what is answered is what is stored')
    })
  }

  for (const [rule, text, codes, given] of FAILURES) {
    test(`update: ${rule} is that document's ${codes.join()}`, async () => {
      const document = await stored(given)
      const response = await update(document, text)
      assert.deepEqual(dataErrorCodes(response), [codes])
      assert.deepEqual([response.status, response.matchCount, response.modifiedCount], ['ERROR', 1, 0])
      assert.ok(sameJson(failedDocumentsOf(response)[0], document), 'it is told as it is stored')
      assert.ok(sameJson(await held(document), document), 'it is left alone')
    })
  }

  for (const [rule, text, code, at] of REFUSALS) {
    test(`update: ${rule} is refused`, async () => {
      const document = await stored()
      const response = await update(document, text)
      assert.equal(codeOf(response), code, printResponse(response))
      const { msg } = response.errors![0]!
      if (at !== undefined) assert.ok(msg.endsWith(`(at ${at})`), msg)
      assert.ok(sameJson(await held(document), document))
    })
  }

  test('update: a wrong literal is refused also when nothing matches', async () => {
    const response = await tester.service.data.update(
      ADMIN,
      { entity: 't' },
      { query: { $or: [] }, update: { $set: { i: 'x' } } },
    )
    assert.equal(codeOf(response), 'metadata:IncompatibleValue')
  })

  test('update: what one document cannot take does not stop the others', async () => {
    const [low, high] = [await stored('{"i":1}'), await stored('{"i":9223372036854775807}')]
    const query = { field: '_id', op: '$in', values: [low['_id']!, high['_id']!] }
    const body = { query, update: { $add: { i: 1 } }, projection: { field: 'i' } }
    const response = await tester.service.data.update(ADMIN, { entity: 't' }, body)
    assert.deepEqual(
      [response.status, response.matchCount, response.modifiedCount, response.processed],
      ['PARTIAL', 2, 1, ['{"i":2}']],
    )
    assert.deepEqual(dataErrorCodes(response), [['metadata:IncompatibleValue']])
    const again = await tester.service.data.update(
      ADMIN,
      { entity: 't' },
      { ...body, execution: { atomic: true } },
    )
    assert.deepEqual([again.status, again.modifiedCount, again.processed], ['ERROR', 0, []])
    assert.equal((await held(low))['i'], 2, 'atomic takes everything back')
  })
})
