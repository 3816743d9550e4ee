/** `_id` of every type that can name a document: found, ordered, changed and unique by value. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN, dataErrorCodes, documentsOf, jsonObject } from '../support/service.ts'
import { openTenant } from '../support/shared-service.ts'
import { onEveryStore } from '../support/store-kind.ts'

onEveryStore(() => {
  test('ids: documents of one request that have none are found in the order of the request', async () => {
    await using tester = await openTenant()
    await tester.define(tester.entity, { n: { type: 'integer' } })
    const expected = Array.from({ length: 200 }, (_, n) => ({ n }))
    await tester.store(tester.entity, expected)
    const found = await tester.find(tester.entity, { projection: { field: 'n' } })
    assert.deepEqual(documentsOf(found), expected)
  })

  test('ids: one that is longer than every index can hold is refused, alike on every store', async () => {
    await using tester = await openTenant()
    await tester.define(
      tester.entity,
      { _id: { type: 'string' }, s: { type: 'string' }, d: { type: 'bigdecimal' } },
      {
        info: {
          indexes: [
            {
              name: 'all',
              fields: [
                { field: 's', dir: '$asc' },
                { field: 'd', dir: '$asc' },
              ],
            },
          ],
        },
      },
    )
    const longest = '😀'.repeat(250)
    const other = `{"_id":"${longest}","s":"${'😀'.repeat(700)}","d":${'9'.repeat(1_990)}.5}`
    const response = await tester.insert(
      tester.entity,
      jsonObject(`{"data":[{"_id":"${longest}x"},${other}]}`),
    )
    assert.equal(response.modifiedCount, 1)
    assert.deepEqual(dataErrorCodes(response), [['crud:TooLong']])
  })

  const ROWS: readonly (readonly [type: string, ascending: readonly string[], alias: string])[] = [
    ['string', ['"10"', '"9"', '"ä"', '"😀"'], '"ä"'],
    ['uid', ['"a"', '"b"'], '"b"'],
    ['integer', ['-9007199254740993', '-5', '0', '7', '10'], '7.0'],
    ['biginteger', ['-100000000000000000000', '3', '100000000000000000000000'], '"3"'],
    ['bigdecimal', ['-1.5', '0.10', '2', '1e3'], '2.00'],
    ['double', ['-0.5', '1.5', '10'], '"1.5"'],
    ['date', ['"20240101T00:00:00.000+0000"', '"20240301T00:00:00.000+0000"'], '"2024-03-01T01:00:00+01:00"'],
  ]

  for (const [type, ascending, alias] of ROWS) {
    test(`ids: ${type}: documents are found, ordered, changed and unique by value`, async () => {
      await using tester = await openTenant()
      await tester.define(tester.entity, {
        _id: { type, constraints: { identity: true } },
        n: { type: 'integer' },
      })
      const shuffled = ascending.toReversed().map((id) => `{"_id":${id},"n":1}`)
      await tester.store(tester.entity, jsonObject(`{"data":[${shuffled.join(',')}]}`)['data']!)
      const all = await tester.find(
        tester.entity,
        jsonObject('{"projection":{"field":"_id"},"sort":{"_id":"$asc"}}'),
      )
      assert.deepEqual(
        all.processed,
        ascending.map((id) => `{"_id":${id}}`),
      )
      const byId = `{"query":{"field":"_id","op":"=","rvalue":${alias}},"projection":{"field":"n"}`
      const found = await tester.find(tester.entity, jsonObject(`${byId}}`))
      assert.deepEqual([found.matchCount, found.processed], [1, ['{"n":1}']])
      const again = await tester.insert(tester.entity, jsonObject(`{"data":{"_id":${alias}}}`))
      assert.equal(again.dataErrors?.[0]?.errors[0]?.errorCode, 'store-crud:Duplicate')
      const change = jsonObject(`${byId},"update":{"$add":{"n":1}}}`)
      const updated = await tester.service.data.update(ADMIN, { entity: tester.entity }, change)
      assert.deepEqual(documentsOf(updated), [{ n: 2 }])
      const version = JSON.parse(updated.resultMetadata![0]!) as { documentVersion: string }
      const saved = `{"data":{"_id":${alias},"n":9},"documentVersions":["${version.documentVersion}"],"projection":{"field":"n"}}`
      const replaced = await tester.service.data.save(ADMIN, { entity: tester.entity }, jsonObject(saved))
      assert.deepEqual(documentsOf(replaced), [{ n: 9 }])
      const gone = await tester.service.data.delete(ADMIN, { entity: tester.entity }, jsonObject(`${byId}}`))
      assert.equal(gone.modifiedCount, 1)
    })
  }
})
