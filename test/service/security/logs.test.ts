/** Row 29: whatever is asked, by whomever, no value and no credential reaches the log. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAuthentication } from '../../../src/auth/create.ts'
import { addToken } from '../../../src/auth/token-file.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { logTo } from '../../../src/http/observe/log.ts'
import { createMetrics } from '../../../src/http/observe/metrics.ts'
import { startServer } from '../../../src/http/server.ts'
import { scratch } from '../auth/harness.ts'
import { type Ask, type TestServer, askServer } from '../../support/server.ts'
import { ADMIN, EVERYTHING, metadataDocument, openServiceAt } from '../../support/service.ts'
import { freshPlace } from '../../support/store-kind.ts'
import { ENTRY_POINTS } from './entry-points.ts'

const SECRET = 'S3CRET'

test('log: neither values nor credentials stand in it, after every entry point was asked with some', async () => {
  using folder = scratch()
  await using place = await freshPlace()
  const lines: string[] = []
  await using service = await openServiceAt(place.location, {
    onInternalError: (error) => void lines.push(String(error)),
  })
  const hidden = { type: 'string', access: { find: ['boss'] } }
  const fields = { _id: { type: 'string' }, name: { type: 'string' }, note: { type: 'string' }, ssn: hidden }
  await service.metadata.create(
    ADMIN,
    { entity: 'person', version: '1.0.0' },
    metadataDocument('person', fields),
  )
  await service.data.insert(ADMIN, { entity: 'person' }, { data: { _id: '1', ssn: `${SECRET}-stored` } })
  const tokens = { file: folder.path('tokens.json') }
  const { token } = await addToken(tokens.file, { principal: 'ann', roles: ['clerk', 'admin'] })
  const note = (problem: unknown): void => void lines.push(String(problem))
  const settings = { isOpen: false, hasCertificates: false, permissions: {}, origins: [], tokens }
  const server = await startServer({
    service,
    auth: await createAuthentication(settings, note),
    limits: DEFAULT_LIMITS,
    log: logTo({ write: (line) => void lines.push(line) }, 'trace'),
    metrics: createMetrics(),
    host: '127.0.0.1',
    port: 0,
  })
  try {
    await askEverything(server.port, token)
  } finally {
    await server.close()
  }
  assert.ok(lines.length > 100)
  const text = lines.join('\n')
  for (const each of [SECRET, token, token.slice(6, 26), 'Bearer', 'Basic'])
    assert.ok(!text.includes(each), each)
})

async function askEverything(port: number, token: string): Promise<void> {
  const credentials = { Authorization: `Bearer ${token}` }
  const ask = (method: string, path: string, { headers, ...more }: Ask = {}) =>
    askServer({ port }, method, path, { ...more, headers: { ...credentials, ...headers } })
  const through = { ask } as unknown as TestServer
  const query = { field: 'name', op: '=', rvalue: `${SECRET}-asked` }
  const parts = {
    query,
    update: { $set: { note: `${SECRET}-set` } },
    data: { name: `${SECRET}-sent`, ssn: SECRET },
  }
  for (const { send } of ENTRY_POINTS) {
    await send(through, parts, [])
    await send(
      through,
      { ...parts, query: { field: 'ssn', op: '=', rvalue: SECRET }, data: { [SECRET]: 1 } },
      [],
    )
  }
  const wrong = [`Bearer ${SECRET}`, `Basic ${btoa(`ann:${SECRET}`)}`, `Bearer ${token}${SECRET}`, SECRET]
  for (const Authorization of wrong) {
    const headers = {
      Authorization,
      Cookie: SECRET,
      'Smalt-Principal': SECRET,
      'Smalt-Roles': SECRET,
      'X-Secret': SECRET,
    }
    await ask('POST', '/data/find/person', { headers, body: { projection: EVERYTHING } })
    await ask('GET', `/metadata?token=${SECRET}`, { headers })
  }
  await ask('POST', '/data/find/person', { body: `{"broken": "${SECRET}` })
  await ask('GET', `/nothing/${SECRET}?access_token=${SECRET}`)
  await ask('GET', `/data/find/person?Q=ssn:${SECRET}`)
  await ask('PUT', '/metadata/person/1.0.0', { body: { [SECRET]: SECRET } })
}
