/** Aggregates look at each row whether they may go on, except where they read an index only, which takes little time. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { ADMIN, type TestService, metadataDocument, openTestService } from '../support/service.ts'
import { useStore } from '../support/store-kind.ts'

useStore('sqlite')

const INFO = { indexes: [{ name: 'n', fields: [{ field: 'n', dir: '$asc' }] }] }
const fieldsWith = (type: string) => ({ _id: { type: 'string' }, n: { type } })

async function isWatched(t: TestContext, tester: TestService): Promise<boolean> {
  const prepare = t.mock.method(DatabaseSync.prototype, 'prepare')
  const body = { groupBy: [{ field: 'n', as: 'n' }], values: { c: { $count: true } } }
  const { status } = await tester.service.data.aggregate(ADMIN, { entity: 'e' }, body)
  assert.equal(status, 'COMPLETE')
  const texts = prepare.mock.calls
    .map((call) => call.arguments[0])
    .filter((text) => text.includes('group by'))
  prepare.mock.restore()
  assert.ok(texts.length > 0)
  return texts.some((text) => text.includes('smalt_alive'))
}

test('aggregate: numbers that versions give different types are read from the documents, so it is watched', async (t) => {
  const asDouble = { entity: 'e', version: '2.0.0' }
  for (const isMixed of [false, true]) {
    await using tester = await openTestService()
    const { metadata } = tester.service
    await tester.define('e', fieldsWith('integer'))
    if (isMixed) {
      const version = { value: asDouble.version, changelog: '-' }
      const { schema } = metadataDocument('e', fieldsWith('double'), { schema: { version } })
      await metadata.createSchema(ADMIN, asDouble, schema)
      // An index has one type in all versions that are enabled, but documents outlive the version that wrote them.
      await metadata.setStatus(ADMIN, asDouble, { status: 'disabled' })
    }
    const { entityInfo } = metadataDocument('e', {}, { info: INFO })
    await metadata.updateInfo(ADMIN, 'e', entityInfo)
    await tester.store('e', [{ _id: 'a', n: 1 }])
    assert.equal(await isWatched(t, tester), isMixed)
  }
})
