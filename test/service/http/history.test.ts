/** Looking back over HTTP: addresses, statuses, and ids that need encoding. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TestServer, startTestServer } from '../../support/server.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const FIELDS = { _id: { type: 'string', constraints: { identity: true } }, n: { type: 'integer' } }
const ID = 'a/b ü?'

async function fill(server: TestServer): Promise<void> {
  await server.define('t', FIELDS, { info: { history: true } })
  const headers = { 'Smalt-Principal': 'ann' }
  const save = (n: number) =>
    server.ask('POST', '/data/save/t', { body: { data: { _id: ID, n }, upsert: true }, headers })
  for (const n of [1, 2, 3]) assert.equal((await save(n)).json.modifiedCount, 1)
}

onEveryStore(() => {
  test('history: every form of the address lists the versions, oldest first', async () => {
    await using server = await startTestServer()
    await fill(server)
    const id = encodeURIComponent(ID)
    for (const base of ['/data/history/t', '/data/history/t/1.0.0', '/rest/data/history/t']) {
      const { status, json } = await server.ask('GET', `${base}/${id}`)
      assert.equal(status, 200)
      assert.deepEqual(
        [json.entity, json.entityVersion, json.status, json.matchCount],
        ['t', '1.0.0', 'COMPLETE', 3],
      )
      assert.deepEqual(
        json.processed.map((each: Record<string, unknown>) => Object.keys(each)),
        Array.from({ length: 3 }, () => ['documentVersion', 'date', 'operation', 'principal', 'document']),
      )
      assert.deepEqual(
        json.processed.map(({ principal, document }: { principal: string; document: { n: number } }) => [
          principal,
          document.n,
        ]),
        [
          ['ann', 1],
          ['ann', 2],
          ['ann', 3],
        ],
      )
    }
    const { json } = await server.ask('GET', `/data/history/t/${id}?from=1&to=1`)
    assert.deepEqual([json.matchCount, json.processed.length, json.processed[0].document.n], [3, 1, 2])
  })

  test('history: what cannot be answered says why', async () => {
    await using server = await startTestServer()
    await fill(server)
    await server.define('plain', FIELDS)
    const codeOf = async (path: string): Promise<readonly unknown[]> => {
      const { status, json } = await server.ask('GET', path)
      return [status, json.errors[0].errorCode, json.errors[0].context]
    }
    assert.deepEqual(await codeOf('/data/history/plain/a'), [400, 'crud:NoHistory', 'history(plain)'])
    assert.deepEqual(await codeOf('/data/history/none/a'), [404, 'crud:UnknownEntity', 'history(none)'])
    assert.deepEqual(await codeOf('/data/history/t/9.9.9/a'), [404, 'crud:UnknownEntity', 'history(t:9.9.9)'])
    assert.deepEqual(await codeOf('/data/history/t/a?since=1'), [400, 'crud:InvalidRequest', 'history(t)'])
    assert.deepEqual(await codeOf('/data/find/plain?asOf=2099-01-01T00:00:00Z'), [
      400,
      'crud:NoHistory',
      'find(plain)',
    ])
    assert.deepEqual(await codeOf('/data/find/t?asOf=now'), [400, 'crud:InvalidRequest', 'find(t)'])
    assert.equal((await server.ask('POST', '/data/history/t/a')).status, 405)
    assert.deepEqual(server.faults(), [])
  })

  test('asOf: finds in the body, by address and as a stream answer from the moment', async () => {
    await using server = await startTestServer()
    await fill(server)
    const { json } = await server.ask('GET', `/data/history/t/${encodeURIComponent(ID)}`)
    for (const { date, documentVersion, document } of json.processed) {
      for (const asOf of [date, documentVersion]) {
        const body = { projection: { field: '*' }, asOf }
        const found = await server.ask('POST', '/data/find/t', { body })
        assert.deepEqual(found.json.processed, [document])
        assert.deepEqual(found.json.resultMetadata, [{ documentVersion }])
        const simple = await server.ask('GET', `/data/find/t?asOf=${encodeURIComponent(asOf)}`)
        assert.deepEqual(simple.json.processed, [document])
        const lines = (await server.ask('POST', '/data/find/t?stream=true', { body })).text.split('\n')
        assert.deepEqual(JSON.parse(lines[1]!).processed, document)
      }
    }
  })

  test('asOf: a stream that is refused is an ordinary answer', async () => {
    await using server = await startTestServer()
    await server.define('plain', FIELDS)
    const body = { projection: { field: '*' }, asOf: '2099-01-01T00:00:00Z' }
    const answer = await server.ask('POST', '/data/find/plain?stream=true', { body })
    assert.deepEqual([answer.status, answer.json.errors[0].errorCode], [400, 'crud:NoHistory'])
  })
})
