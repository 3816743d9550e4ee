import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Harness, start } from './harness.ts'

let http: Harness
before(async () => {
  http = await start()
})
after(() => http.server.close())

const DATA: readonly [method: string, path: string, asked: object][] = [
  ['POST', '/data/find/country', { operation: 'find', entity: 'country' }],
  ['POST', '/data/find/country/1.0.0', { operation: 'find', entity: 'country', version: '1.0.0' }],
  [
    'GET',
    '/data/find/country?Q=a:b&P=*:1r&from=2',
    { operation: 'simpleFind', entity: 'country', Q: 'a:b', P: '*:1r', from: '2' },
  ],
  ['GET', '/data/find/country/1.0.0?Q=a%3Ab', { operation: 'simpleFind', version: '1.0.0', Q: 'a:b' }],
  ['POST', '/data/aggregate/country', { operation: 'aggregate', entity: 'country' }],
  ['POST', '/data/aggregate/country/1.0.0', { operation: 'aggregate', version: '1.0.0' }],
  ['POST', '/data/explain/country', { operation: 'explain', entity: 'country' }],
  ['POST', '/data/explain/country/1.0.0', { operation: 'explain', version: '1.0.0' }],
  ['GET', '/data/explain/country?Q=a:b', { operation: 'simpleExplain', Q: 'a:b' }],
  ['GET', '/data/explain/country/1.0.0', { operation: 'simpleExplain', version: '1.0.0' }],
  ['PUT', '/data/insert/country', { operation: 'insert', entity: 'country' }],
  ['PUT', '/data/insert/country/1.0.0', { operation: 'insert', version: '1.0.0' }],
  ['POST', '/data/save/country', { operation: 'save', entity: 'country' }],
  ['POST', '/data/save/country/1.0.0', { operation: 'save', version: '1.0.0' }],
  ['POST', '/data/update/country', { operation: 'update', entity: 'country' }],
  ['POST', '/data/update/country/1.0.0', { operation: 'update', version: '1.0.0' }],
  ['POST', '/data/delete/country', { operation: 'delete', entity: 'country' }],
  ['POST', '/data/delete/country/1.0.0', { operation: 'delete', version: '1.0.0' }],
  ['PUT', '/data/country', { operation: 'insert', entity: 'country' }],
  ['PUT', '/data/country/1.0.0', { operation: 'insert', entity: 'country', version: '1.0.0' }],
  ['GET', '/data/generate/country/_id', { operation: 'generate', entity: 'country', field: '_id' }],
  [
    'GET',
    '/data/generate/country/1.0.0/a.*.b?n=3',
    { operation: 'generate', version: '1.0.0', field: 'a.*.b', n: '3' },
  ],
  ['GET', '/data/generate/country/sites%23?n=x', { operation: 'generate', field: 'sites#', n: 'x' }],
  ['GET', '/data/generate/country/a%2Fb', { operation: 'generate', field: 'a/b' }],
]

for (const [method, path, asked] of DATA) {
  for (const address of [path, `/rest${path}`, withSlash(path)]) {
    test(`${method} ${address}: reaches the data operation with what the path says`, async () => {
      const answer = await http.ask(method, address)
      assert.equal(answer.status, 200)
      const told = answer.json().processed[0]
      assert.deepEqual({ ...told, ...asked }, told)
      assert.equal('version' in told, 'version' in asked)
    })
  }
}

const COUNTRY = { entity: 'country', version: '1.0.0' }
const METADATA: readonly [method: string, path: string, operation: string, args: unknown[]][] = [
  ['GET', '/metadata', 'names', [null]],
  ['GET', '/metadata/s=active,deprecated', 'names', ['active,deprecated']],
  ['GET', '/metadata/store', 'versions', ['store']],
  ['GET', '/metadata/country', 'versions', ['country']],
  ['GET', '/metadata/country/1.0.0', 'get', ['country', '1.0.0']],
  ['GET', '/metadata/country/default', 'get', ['country', 'default']],
  ['GET', '/metadata/country/1.0.0/diff/1.1.0', 'diff', ['country', ['1.0.0', '1.1.0']]],
  ['GET', '/metadata/country/history', 'history', ['country']],
  ['GET', '/metadata/roles', 'roles', [null, null]],
  ['GET', '/metadata/country/roles', 'roles', ['country', null]],
  ['GET', '/metadata/country/1.0.0/roles', 'roles', ['country', '1.0.0']],
  ['GET', '/metadata/dependencies', 'dependencies', [null, null]],
  ['GET', '/metadata/country/dependencies', 'dependencies', ['country', null]],
  ['GET', '/metadata/country/1.0.0/dependencies', 'dependencies', ['country', '1.0.0']],
  ['GET', '/metadata/country/access', 'access', ['country', null]],
  ['GET', '/metadata/country/1.0.0/access', 'access', ['country', '1.0.0']],
  ['GET', '/metadata/country/lint', 'lint', ['country']],
  ['PUT', '/metadata', 'createAll', [{ a: 1 }]],
  ['PUT', '/metadata/country/1.0.0', 'create', [COUNTRY, { a: 1 }]],
  ['PUT', '/metadata/country/schema=1.0.0', 'createSchema', [COUNTRY, { a: 1 }]],
  ['PUT', '/metadata/country', 'updateInfo', ['country', { a: 1 }]],
  ['PUT', '/metadata/country/1.0.0/disabled', 'setStatus', [COUNTRY, { status: 'disabled' }]],
  [
    'PUT',
    '/metadata/country/1.0.0/disabled?comment=old+one',
    'setStatus',
    [COUNTRY, { status: 'disabled', comment: 'old one' }],
  ],
  ['POST', '/metadata/country/1.0.0/default', 'setDefault', [COUNTRY]],
  ['DELETE', '/metadata/country/default', 'clearDefault', ['country']],
  ['DELETE', '/metadata/country', 'remove', ['country']],
]

for (const [method, path, operation, args] of METADATA) {
  for (const address of [path, `/rest${path}`, withSlash(path)]) {
    test(`${method} ${address}: reaches the metadata operation with what the path says`, async () => {
      const answer = await http.ask(method, address, { body: method === 'PUT' ? '{"a":1}' : '' })
      assert.equal(answer.status, 200)
      assert.deepEqual(answer.json(), { operation, args })
    })
  }
}

test('bulk: the text of the service is the answer', async () => {
  const answer = await http.ask('POST', '/data/bulk', { body: '{"requests":[]}' })
  assert.deepEqual(answer.json(), { responses: [], body: { requests: [] } })
})

test('bulk: an unusable bulk is a response document with 400', async () => {
  const answer = await http.ask('POST', '/data/bulk')
  assert.equal(answer.status, 400)
  assert.equal(answer.json().errors[0].errorCode, 'crud:InvalidRequest')
})

const UNKNOWN = [
  '/nothing',
  '/data',
  '/data/find',
  '/rest/nothing',
  '/metadata//1.0.0',
  '/data/find/a/b/c',
  '/rests',
  '/DATA/find/x',
]
for (const path of UNKNOWN) {
  test(`GET ${path}: an unknown path is 404 or knows other methods`, async () => {
    const answer = await http.ask('GET', path)
    if (path === '/data/find') assert.equal(answer.status, 405)
    else assert.equal(answer.status, 404)
  })
}

test('routes: an unknown path is the bare error object', async () => {
  const { errorCode, objectType, ...rest } = (await http.ask('GET', '/nothing')).json()
  assert.deepEqual([objectType, errorCode], ['error', 'crud:UnknownRoute'])
  assert.deepEqual(Object.keys(rest), ['context', 'msg'])
})

test('routes: an unknown path below /data is a response document', async () => {
  const answer = await http.ask('GET', '/data/find/a/b/c')
  assert.equal(answer.json().status, 'ERROR')
  assert.equal(answer.json().errors[0].errorCode, 'crud:UnknownRoute')
})

for (const [method, path, code] of [
  ['GET', '/data/find/%zz', 'crud:InvalidRequest'],
  ['GET', '/rest/data/find/%ff', 'crud:InvalidRequest'],
  ['POST', '/data/find/x%00', 'crud:InvalidRequest'],
  ['POST', '/data/find/a|b{"c"}%', 'crud:InvalidRequest'],
  ['GET', '/data//find/x', 'crud:UnknownRoute'],
  ['POST', '/rest/data/find/a/b/c', 'crud:UnknownRoute'],
  ['DELETE', '/data/find/x', 'crud:MethodNotAllowed'],
  ['DELETE', '/%64ata/find/x', 'crud:MethodNotAllowed'],
] as const) {
  test(`${method} ${path}: a refusal below /data is a response document`, async () => {
    const { status, errors, ...rest } = (await http.ask(method, path)).json()
    assert.deepEqual([status, errors[0].errorCode], ['ERROR', code])
    assert.deepEqual(Object.keys(rest), ['modifiedCount', 'matchCount'])
  })
}

test('routes: an invalid path elsewhere is the bare error object', async () => {
  for (const path of ['/metadata/%zz', '/documents/%ff', '/data%zz']) {
    assert.equal((await http.ask('GET', path)).json().errorCode, 'crud:InvalidRequest', path)
  }
})

const WRONG: readonly [method: string, path: string, allow: string][] = [
  ['DELETE', '/data/find/country', 'GET, HEAD, POST'],
  ['PUT', '/data/find/country', 'GET, HEAD, POST'],
  ['POST', '/data/insert/country', 'PUT'],
  ['PUT', '/data/bulk', 'POST'],
  ['OPTIONS', '/data/find/country', 'GET, HEAD, POST'],
  ['PATCH', '/metadata/country', 'GET, HEAD, PUT, DELETE'],
  ['PUT', '/metadata/roles', 'GET, HEAD'],
  ['PUT', '/metadata/country/roles', 'GET, HEAD'],
  ['POST', '/health', 'GET, HEAD'],
]
for (const [method, path, allow] of WRONG) {
  test(`${method} ${path}: a wrong method is 405 and names the others`, async () => {
    const answer = await http.ask(method, path)
    assert.equal(answer.status, 405)
    assert.equal(answer.headers.allow, allow)
    const error = path.startsWith('/data/') ? answer.json().errors[0] : answer.json()
    assert.equal(error.errorCode, 'crud:MethodNotAllowed')
  })
}

test('HEAD: answers as GET does, without a body', async () => {
  const get = await http.ask('GET', '/data/find/country')
  const head = await http.ask('HEAD', '/data/find/country')
  assert.equal(head.status, 200)
  assert.equal(head.text, '')
  assert.equal(head.headers['content-length'], get.headers['content-length'])
})

for (const path of [
  '/data/find/%',
  '/data/find/%zz',
  '/data/find/%ff',
  '/data/find/a%00b',
  '/metadata/%E0%A4%A',
  '/%00',
]) {
  test(`GET ${path}: a path that cannot be decoded is 400`, async () => {
    const answer = await http.ask('GET', path)
    assert.equal(answer.status, 400)
    assert.match(answer.text, /crud:InvalidRequest/)
  })
}

test('routes: an address in absolute form is understood', async () => {
  const text = await http.raw(
    `GET http://localhost/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
  )
  assert.match(text, /^HTTP\/1\.1 200 /)
})

function withSlash(path: string): string {
  const question = path.indexOf('?')
  return question === -1 ? `${path}/` : `${path.slice(0, question)}/${path.slice(question)}`
}
