/** Tokens that are revoked while a request is being received or processed. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { addToken, revokeToken } from '../../../src/auth/token-file.ts'
import { Work } from '../../../src/base/work/work.ts'
import { ServiceError } from '../../../src/base/errors.ts'
import { bulk } from '../../../src/service/bulk/bulk.ts'
import type { Operations } from '../../../src/service/bulk/entries.ts'
import { readBulk } from '../../../src/service/request/bulk-request.ts'
import { type DataResponse, failed } from '../../../src/service/response.ts'
import { type ServerSettings, SOON_MS, bearer, eventually, scratch, startAuthServer } from './harness.ts'

const ANN = { principal: 'ann', roles: ['hr'] }
const DONE: DataResponse = { status: 'COMPLETE', modifiedCount: 1, matchCount: 0 }

async function startWithToken(options: ServerSettings = {}) {
  const folder = scratch()
  const file = folder.path('tokens.json')
  const { id, token } = await addToken(file, ANN)
  const server = await startAuthServer({ tokens: { file } }, options)
  return {
    server,
    token,
    async revoke() {
      await revokeToken(file, id)
      await eventually(async () => (await server.who(bearer(token))) === 401, 'it is revoked', SOON_MS)
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

for (const isRevoked of [true, false]) {
  const rule = isRevoked ? 'whose token is revoked meanwhile is 401' : 'whose token stays valid is processed'
  test(`bodies: a slow one ${rule}`, async () => {
    await using started = await startWithToken()
    const headers = { Authorization: `Bearer ${started.token}`, 'Content-Length': 2 }
    const { port } = started.server
    const outgoing = request({
      host: '127.0.0.1',
      port,
      method: 'PUT',
      path: '/data/insert/x',
      headers,
      agent: false,
    })
    outgoing.write('{')
    const begun = performance.now()
    // the request was admitted, because a later request was
    assert.deepEqual(await started.server.who(bearer(started.token)), ANN)
    if (isRevoked) await started.revoke()
    await eventually(() => performance.now() - begun > 1_500, 'the body is late')
    outgoing.end('}')
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
    response.resume()
    assert.equal(response.statusCode, isRevoked ? 401 : 200)
  })
}

test('streams: one whose token is revoked before its first line is 401, and its cursor is closed', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  let isBegun = false
  let isClosed = false
  const stream: ServerSettings['stream'] = async () => {
    isBegun = true
    await gate
    return (async function* () {
      try {
        yield '{"entity":"x","status":"COMPLETE"}'
        yield '{"last":true}'
      } finally {
        isClosed = true
      }
    })()
  }
  await using started = await startWithToken({ stream })
  const pending = started.server.ask('POST', '/data/find/x?stream=true', {
    headers: bearer(started.token),
    body: {},
  })
  await eventually(() => isBegun, 'the request is admitted', SOON_MS)
  await started.revoke()
  open()
  const answer = await pending
  assert.equal(answer.status, 401, answer.text)
  assert.equal(isClosed, true)
})

test('reads: one whose token is revoked ends with an error that says why', async () => {
  let isBegun = false
  const stream: ServerSettings['stream'] = async (_caller, { getSignal }) => {
    isBegun = true
    await once(getSignal!(), 'abort')
    return failed(new ServiceError('crud:Unavailable', 'the caller hung up'))
  }
  await using started = await startWithToken({ stream })
  const pending = started.server.ask('POST', '/data/find/x?stream=true', {
    headers: bearer(started.token),
    body: {},
  })
  await eventually(() => isBegun, 'the request is admitted', SOON_MS)
  await started.revoke()
  const answer = await pending
  assert.equal(answer.status, 403)
  assert.equal(answer.json.errors[0].errorCode, 'crud:NoAccess')
})

for (const atomic of [false, true]) {
  const rule = atomic ? 'is rolled back' : 'starts no further entry'
  test(`bulk: one whose token is revoked ${rule}`, async () => {
    let begun = 0
    // the first entry runs until the token is refused
    const insert: Operations['insert'] = async (_caller, { getSignal }) => {
      if (begun++ === 0) await once(getSignal!(), 'abort')
      return DONE
    }
    const runner = {
      operations: { insert } as Operations,
      datasourceOf: () => 'main',
      transact: <T>(_: unknown, run: (operations: Operations) => Promise<T>) => run({ insert } as Operations),
      onInternalError: (error: unknown) => assert.fail(String(error)),
      respond: (response: DataResponse) => response,
    }
    await using started = await startWithToken({
      bulkInParts: async (caller, body, { getSignal } = {}) => {
        const context = { getSignal: getSignal!, work: new Work({ timeLimitMs: 30_000 }) }
        return await bulk(runner, caller, { ...readBulk(body, 10), context })
      },
    })
    const requests = [0, 1, 2].map((seq) => ({ seq, op: 'insert', request: { entity: 'x', data: {} } }))
    const pending = started.server.ask('POST', '/data/bulk', {
      headers: bearer(started.token),
      body: { requests, ordered: true, atomic },
    })
    await eventually(() => begun === 1, 'the request is admitted', SOON_MS)
    await started.revoke()
    const answer = await pending
    assert.equal(answer.status, 200, answer.text)
    const results = answer.json.responses.map(
      ({ response }: { response: { status: string; errors?: { errorCode: string }[] } }) =>
        response.errors?.[0]?.errorCode ?? response.status,
    )
    assert.deepEqual(
      results,
      atomic
        ? ['crud:Rolledback', 'crud:NoAccess', 'crud:Rolledback']
        : ['COMPLETE', 'crud:NoAccess', 'crud:NoAccess'],
    )
    assert.equal(begun, 1)
  })
}

test('refusals: the connection is closed when the body is still arriving', async () => {
  await using started = await startWithToken()
  const socket = connect(started.server.port, '127.0.0.1')
  let text = ''
  socket.on('data', (chunk) => (text += String(chunk))).on('error', () => undefined)
  socket.write('PUT /data/insert/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n{')
  const timer = setInterval(() => socket.write('x'.repeat(1_000)), 50)
  try {
    await eventually(() => text.includes('\r\n\r\n'), 'it is answered', SOON_MS)
    assert.match(text, /^HTTP\/1\.1 401 /)
    assert.match(text, /\r\nConnection: close\r\n/)
    await eventually(() => socket.destroyed, 'the connection is closed')
  } finally {
    clearInterval(timer)
    socket.destroy()
  }
})

test('refusals: the connection stays open when the body has arrived', async () => {
  await using started = await startWithToken()
  const socket = connect(started.server.port, '127.0.0.1')
  let text = ''
  socket.on('data', (chunk) => (text += String(chunk)))
  const refused = 'PUT /data/insert/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}'
  const bodiless = 'GET /metadata HTTP/1.1\r\nHost: localhost\r\n\r\n'
  try {
    for (const [i, each] of [refused, bodiless, refused].entries()) {
      socket.write(each)
      await eventually(() => text.match(/HTTP\/1\.1 401 /g)?.length === i + 1, `answer ${i}`, SOON_MS)
    }
    assert.doesNotMatch(text, /Connection: close/)
  } finally {
    socket.destroy()
  }
})
