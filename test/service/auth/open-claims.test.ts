/** Claims in open mode: a header that row rules may refer to. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestServer } from '../../support/server.ts'

test('open: claims come from a header in open mode, and must be a JSON object', async () => {
  const access = {
    find: [{ role: 'regional', where: { field: 'region', op: '$in', values: ['$caller.claims.regions'] } }],
  }
  await using server = await startTestServer()
  await server.define(
    'ruled',
    { region: { type: 'string' } },
    { schema: { access: { ...access, insert: ['anyone'] } } },
  )
  const data = [{ region: 'nord' }, { region: 'süd' }]
  await server.ask('PUT', '/data/insert/ruled', { body: { data } })
  const found = async (claims: string) => {
    const headers = { 'Smalt-Claims': Buffer.from(claims).toString('latin1') }
    return await server.ask('GET', '/data/find/ruled', { roles: ['regional'], headers })
  }
  assert.equal((await found('{}')).json.matchCount, 0)
  assert.equal((await found('{"regions":["süd"]}')).json.processed[0].region, 'süd')
  assert.equal((await found('{"regions":["süd","nord"]}')).json.matchCount, 2)
  for (const wrong of ['[]', '"x"', '{', `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`]) {
    const { status, text } = await found(wrong)
    assert.equal(status, 400, wrong)
    assert.match(text, /crud:InvalidRequest.*Smalt-Claims must be a JSON object/)
  }
})
