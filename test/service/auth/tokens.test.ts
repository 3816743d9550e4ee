/** Static bearer tokens: credentials, the file of tokens, and revocation. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { addToken, readTokens, revokeToken } from '../../../src/auth/token-file.ts'
import type { DataService } from '../../../src/service/service.ts'
import { type ServerSettings, SOON_MS, bearer, eventually, scratch, startAuthServer } from './harness.ts'

const ANN = { principal: 'ann', roles: ['hr', 'editor'] }

async function startWithToken(options: ServerSettings = {}) {
  const folder = scratch()
  const file = folder.path('tokens.json')
  const { id, token } = await addToken(file, ANN)
  const server = await startAuthServer({ tokens: { file } }, options)
  const end = async () => {
    await server[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  }
  return { file, id, token, server, [Symbol.asyncDispose]: end }
}

const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
})

test('tokens: HTTP Basic carries principal and token, only where it is accepted', async () => {
  using folder = scratch()
  const file = folder.path('tokens.json')
  const { token } = await addToken(file, ANN)
  await using accepting = await startAuthServer({ tokens: { file, acceptsBasic: true } })
  assert.deepEqual(await accepting.who(basic('ann', token)), ANN)
  assert.deepEqual(await accepting.who(bearer(token)), ANN)
  for (const headers of [
    basic('eve', token),
    basic('', token),
    basic('ann', `${token}x`),
    basic('ann', ''),
    { authorization: `Basic ${Buffer.from('ann').toString('base64')}` },
    { authorization: 'Basic ???' },
    { authorization: 'Basic' },
  ])
    assert.equal(await accepting.who(headers), 401, JSON.stringify(headers))
  await using refusing = await startAuthServer({ tokens: { file } })
  assert.equal(await refusing.who(basic('ann', token)), 401)
})

test('tokens: the caller has the principal and roles of the token', async () => {
  await using started = await startWithToken()
  assert.deepEqual(await started.server.who(bearer(started.token)), ANN)
})

test('tokens: the scheme is case-insensitive', async () => {
  await using started = await startWithToken()
  assert.deepEqual(await started.server.who({ Authorization: `bEARER ${started.token}` }), ANN)
})

test('tokens: the headers of the open mode are ignored', async () => {
  await using started = await startWithToken()
  const headers = { ...bearer(started.token), 'Smalt-Roles': 'admin', 'Smalt-Principal': 'eve' }
  assert.deepEqual(await started.server.who(headers), ANN)
  assert.equal(await started.server.who({ 'Smalt-Roles': 'admin' }), 401)
})

test('tokens: without credentials the response is 401 and names the scheme', async () => {
  await using started = await startWithToken()
  const answer = await started.server.ask('POST', '/data/find/x')
  assert.equal(answer.status, 401)
  assert.equal(answer.headers['www-authenticate'], 'Bearer')
  assert.equal(answer.json.errors[0].errorCode, 'crud:Unauthenticated')
  const wrong = await started.server.ask('GET', '/metadata', { headers: bearer('smalt_x') })
  assert.equal(wrong.headers['www-authenticate'], 'Bearer error="invalid_token"')
  assert.equal(wrong.json.errorCode, 'crud:Unauthenticated')
})

const WRONG: readonly [rule: string, header: (token: string) => string | string[]][] = [
  ['another secret', (token) => `Bearer ${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`],
  ['an unknown id', (token) => `Bearer smalt_000000000000_${token.split('_').slice(2).join('_')}`],
  ['nothing after the scheme', () => 'Bearer'],
  ['no scheme', (token) => token],
  ['another scheme', (token) => `Basic ${Buffer.from(token).toString('base64')}`],
  ['two spaces', (token) => `Bearer  ${token}`],
  ['a tab', (token) => `Bearer\t${token}`],
  ['a comma and more', (token) => `Bearer ${token},x`],
  ['a space and more', (token) => `Bearer ${token} x`],
  ['a truncated secret', (token) => `Bearer ${token.slice(0, -1)}`],
  ['a letter too many', (token) => `Bearer ${token}A`],
  ['upper case', (token) => `Bearer ${token.toUpperCase()}`],
  ['a token of another kind', () => 'Bearer eyJhbGciOiJub25lIn0.e30.x'],
  ['the word undefined', () => 'Bearer undefined'],
  ['two headers', (token) => [`Bearer ${token}`, `Bearer ${token}`]],
]
for (const [rule, header] of WRONG) {
  test(`tokens: ${rule} is 401`, async () => {
    await using started = await startWithToken()
    assert.equal(await started.server.who({ Authorization: header(started.token) }), 401)
  })
}

test('tokens: a wrong token is 401 even if requests without credentials are allowed', async () => {
  using folder = scratch()
  const file = folder.path('tokens.json')
  const { token } = await addToken(file, ANN)
  await using server = await startAuthServer({ isOpen: true, tokens: { file } })
  assert.deepEqual(await server.who({ 'Smalt-Roles': 'a' }), { principal: '', roles: ['a'] })
  assert.deepEqual(await server.who({ ...bearer(token), 'Smalt-Roles': 'a' }), ANN)
  assert.equal(await server.who({ Authorization: 'Bearer smalt_x', 'Smalt-Roles': 'a' }), 401)
  assert.equal(await server.who({ Authorization: 'Bearer a.b.c' }), 401)
})

test('tokens: the file contains no secret, and only its owner can read it', async () => {
  await using started = await startWithToken()
  const text = readFileSync(started.file, 'utf8')
  const [, , ...secret] = started.token.split('_')
  assert.ok(!text.includes(secret.join('_')))
  assert.equal(statSync(started.file).mode & 0o777, 0o600)
})

for (const mode of [0o620, 0o602, 0o666]) {
  test(`tokens: a file of mode ${mode.toString(8)}, which others can write, is refused`, async () => {
    await using started = await startWithToken()
    chmodSync(started.file, mode)
    assert.throws(() => readTokens(started.file), new RegExp(`run: chmod go-w ${started.file}$`))
    await assert.rejects(addToken(started.file, ANN), /chmod go-w/)
    await using late = await startAuthServer({ tokens: { file: started.file } })
    assert.equal(await late.who(bearer(started.token)), 503)
    assert.match(String(late.problems[0]), /chmod go-w/)
    chmodSync(started.file, 0o644)
    await eventually(async () => (await late.who(bearer(started.token))) !== 503, 'it is read again')
    assert.deepEqual(await late.who(bearer(started.token)), ANN)
  })
}

test('tokens: concurrent additions are not lost', async () => {
  using folder = scratch()
  const file = folder.path('tokens.json')
  const added = await Promise.all(Array.from({ length: 12 }, () => addToken(file, ANN)))
  assert.deepEqual(new Set(readTokens(file).map(({ id }) => id)), new Set(added.map(({ id }) => id)))
})

test('tokens: the error names a lock file that is never removed', async () => {
  using folder = scratch()
  const file = folder.path('tokens.json')
  writeFileSync(`${file}.lock`, '')
  await assert.rejects(addToken(file, ANN), /remove .*tokens\.json\.lock/)
})

test('tokens: an expired one is 401', async () => {
  using folder = scratch()
  const file = folder.path('tokens.json')
  const soon = new Date(Date.now() + 300).toISOString()
  const { token } = await addToken(file, { ...ANN, expires: soon })
  await using server = await startAuthServer({ tokens: { file } })
  await eventually(async () => (await server.who(bearer(token))) === 401, 'the token expires')
  const answer = await server.ask('POST', '/data/find/x', { headers: bearer(token) })
  assert.match(answer.text, /has expired/)
})

test('tokens: a revoked one is 401 soon, another added one counts soon', async () => {
  await using started = await startWithToken()
  const { server, file, token, id } = started
  assert.deepEqual(await server.who(bearer(token)), ANN)
  assert.equal(await revokeToken(file, id), true)
  assert.equal(await revokeToken(file, id), false)
  await eventually(async () => (await server.who(bearer(token))) === 401, 'the token is revoked', SOON_MS)
  const other = await addToken(file, { principal: 'bob', roles: [] })
  await eventually(async () => (await server.who(bearer(other.token))) !== 401, 'the token is known', SOON_MS)
})

test('tokens: a file that is gone means that all are revoked', async () => {
  await using started = await startWithToken()
  rmSync(started.file)
  await eventually(
    async () => (await started.server.who(bearer(started.token))) === 401,
    'all are revoked',
    SOON_MS,
  )
})

const BROKEN: readonly [rule: string, text: (sound: string) => string][] = [
  ['half of it', (sound) => sound.slice(0, -20)],
  ['nothing', () => ''],
  ['another shape', () => '{"tokens":[{"id":"x"}]}'],
  ['an unknown key', (sound) => sound.replace('"roles"', '"role"')],
  ['an expiry that is not a date', (sound) => sound.replace('"roles"', '"expires": "never", "roles"')],
  ['a duplicate key', (sound) => sound.replace('"roles"', '"roles": [], "roles"')],
]
for (const [rule, broken] of BROKEN) {
  test(`tokens: a file with ${rule} is reported once, and the tokens read before stay valid for a while`, async () => {
    await using started = await startWithToken()
    const { server, file, token } = started
    writeFileSync(`${file}.new`, broken(readFileSync(file, 'utf8')))
    renameSync(`${file}.new`, file)
    await eventually(async () => {
      assert.deepEqual(await server.who(bearer(token)), ANN)
      return server.problems.length > 0
    }, 'the problem is told')
    assert.equal(server.problems.length, 1)
    assert.match(String(server.problems[0]), /tokens\.json/)
  })
}

const UNREADABLE: readonly [rule: string, spoil: (file: string) => void][] = [
  ['is not JSON', (file) => writeFileSync(file, '{"tokens":')],
  [
    'cannot be read',
    (file) => {
      rmSync(file)
      mkdirSync(file)
    },
  ],
]
for (const [rule, spoil] of UNREADABLE) {
  test(`tokens: a file that ${rule} makes 503 after five seconds, until it is valid again`, async () => {
    await using started = await startWithToken()
    const { server, file, token } = started
    const sound = readFileSync(file, 'utf8')
    assert.deepEqual(await server.who(bearer(token)), ANN)
    spoil(file)
    await eventually(async () => (await server.who(bearer(token))) === 503, 'tokens are refused', 6_000)
    const refused = await server.ask('POST', '/data/find/x', { headers: bearer(token) })
    assert.equal(refused.json.errors[0].errorCode, 'crud:Unavailable')
    assert.equal(refused.headers['retry-after'], '1')
    // wrong and valid tokens have the same response meanwhile
    assert.equal(await server.who(bearer('smalt_x')), 503)
    assert.equal(server.problems.length, 1)
    rmSync(file, { recursive: true })
    writeFileSync(`${file}.new`, sound)
    renameSync(`${file}.new`, file)
    await eventually(async () => (await server.who(bearer(token))) !== 503, 'tokens count again', SOON_MS)
    assert.deepEqual(await server.who(bearer(token)), ANN)
    assert.equal(server.problems.length, 1)
  })
}

test('tokens: a file that cannot be read at the start makes 503 at once', async () => {
  using folder = scratch()
  const file = folder.path('tokens.json')
  writeFileSync(file, '')
  await using server = await startAuthServer({ tokens: { file } })
  assert.equal(await server.who(bearer('smalt_x')), 503)
})

/** Revokes the only token while no file can be opened; returns whether it is accepted then and afterwards. */
const STARVED = `
import { closeSync, openSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
const [file, id, token] = process.argv.slice(1)
const { tokenMode } = await import(process.env.TOKENS)
const { revokeToken } = await import(process.env.TOKEN_FILE)
const callerOf = tokenMode({ file, makeCaller: (proven) => proven, onProblem: () => console.log('problem') })
const tell = () => { try { console.log(callerOf(token).principal) } catch (error) { console.log(error.code) } }
await revokeToken(file, id)
const open = []
try { for (;;) open.push(openSync(file)) } catch (error) { console.log(error.code) }
await sleep(300)
tell()
for (const each of open) closeSync(each)
await sleep(300)
tell()
`

test('tokens: after a temporary failure to read the file, a revoked token is refused', async () => {
  using folder = scratch()
  const file = folder.path('tokens.json')
  const { id, token } = await addToken(file, ANN)
  const source = (name: string) => new URL(`../../../src/auth/${name}`, import.meta.url).href
  const { stdout } = await promisify(execFile)(
    'sh',
    [
      '-c',
      'ulimit -n 100; exec "$0" "$@"',
      process.execPath,
      '--input-type=module',
      '-e',
      STARVED,
      file,
      id,
      token,
    ],
    { env: { ...process.env, TOKENS: source('tokens.ts'), TOKEN_FILE: source('token-file.ts') } },
  )
  // it is accepted during the failure, and refused afterwards
  assert.deepEqual(stdout.trim().split('\n'), ['EMFILE', 'problem', 'ann', 'crud:Unauthenticated'])
})

test('tokens: an update of the file keeps its mode, its owner, and symbolic links to it', async () => {
  using folder = scratch()
  const [file, link] = [folder.path('kept.json'), folder.path('tokens.json')]
  const { id } = await addToken(file, ANN)
  symlinkSync(file, link)
  chmodSync(file, 0o640)
  // only the superuser can change the owner of a file, and would do so by mistake
  if (process.getuid?.() === 0) chownSync(file, 65_534, 65_534)
  const before = statSync(file)
  await addToken(link, ANN)
  assert.equal(await revokeToken(link, id), true)
  const after = statSync(file)
  assert.notEqual(after.ino, before.ino)
  assert.deepEqual([after.uid, after.gid, after.mode], [before.uid, before.gid, before.mode])
  assert.ok(lstatSync(link).isSymbolicLink())
  assert.equal(readTokens(file).length, 1)
  assert.deepEqual(readdirSync(dirname(file)).sort(), ['kept.json', 'tokens.json'])
})

test('tokens: a new file belongs to the owner of its directory, and only its owner can read it', async () => {
  using folder = scratch()
  const file = folder.path('tokens.json')
  // only the superuser can create files for others
  if (process.getuid?.() === 0) chownSync(dirname(file), 65_534, 65_534)
  await addToken(file, ANN)
  const [made, directory] = [statSync(file), statSync(dirname(file))]
  assert.deepEqual([made.uid, made.gid, made.mode & 0o777], [directory.uid, directory.gid, 0o600])
})

const SETPRIV = '/usr/bin/setpriv'
const isPrivileged = process.getuid?.() === 0 && existsSync(SETPRIV)

test(
  'tokens: a superuser who may not give files away keeps a new file',
  { skip: !isPrivileged && 'needs the superuser, and setpriv' },
  async () => {
    using folder = scratch()
    const file = folder.path('tokens.json')
    // anybody may create files there
    chmodSync(dirname(file), 0o777)
    chownSync(dirname(file), 65_534, 65_534)
    const module = new URL('../../../src/auth/token-file.ts', import.meta.url).href
    const script = `import { addToken } from '${module}'; await addToken(process.argv[1], ${JSON.stringify(ANN)})`
    const command = [process.execPath, '--input-type=module', '-e', script, file]
    await promisify(execFile)(SETPRIV, ['--bounding-set=-chown', '--inh-caps=-chown', ...command])
    assert.equal(statSync(file).uid, 0)
    assert.equal(readTokens(file).length, 1)
  },
)

test('tokens: permissions come from roles and from the token itself', async () => {
  using folder = scratch()
  const file = folder.path('tokens.json')
  const permissions = { 'metadata.find': ['reader'], 'metadata.delete': ['anyone'] }
  const reader = await addToken(file, { principal: 'r', roles: ['reader'] })
  const writer = await addToken(file, { principal: 'w', roles: [], permissions: ['metadata.update'] })
  await using server = await startAuthServer({ tokens: { file }, permissions })
  const ask = async (token: string, method: string, path: string) =>
    (await server.ask(method, path, { headers: bearer(token), ...(method === 'PUT' && { body: {} }) })).status
  assert.equal(await ask(reader.token, 'GET', '/metadata'), 200)
  assert.equal(await ask(reader.token, 'PUT', '/metadata/x'), 403)
  assert.equal(await ask(reader.token, 'DELETE', '/metadata/x'), 200)
  assert.equal(await ask(writer.token, 'GET', '/metadata'), 403)
  assert.equal(await ask(writer.token, 'PUT', '/metadata/x'), 200)
  assert.equal(await ask(writer.token, 'PUT', '/metadata/x/1.0.0'), 403)
})

/** A stream that never ends by itself: one line, then either more lines until it is closed, or none. */
function endless(isSilent: boolean, onClosed: () => void, size = 10_000): DataService['stream'] {
  return async (_caller, { getSignal }) =>
    (async function* () {
      const gone = getSignal!()
      try {
        yield '{"entity":"x","status":"COMPLETE"}'
        if (isSilent) await new Promise((resolve) => gone.addEventListener('abort', resolve))
        while (!gone.aborted) {
          yield JSON.stringify({ processed: { text: 'x'.repeat(size) } })
          await new Promise((resolve) => setTimeout(resolve, 5))
        }
      } finally {
        onClosed()
      }
    })()
}

const CHANGES: readonly [rule: string, change: (file: string, id: string) => Promise<unknown>][] = [
  ['revoked', revokeToken],
  [
    'given other roles',
    async (file) => {
      writeFileSync(`${file}.new`, readFileSync(file, 'utf8').replace('"editor"', '"other"'))
      renameSync(`${file}.new`, file)
    },
  ],
]
for (const [rule, change] of CHANGES) {
  for (const isSilent of [false, true]) {
    test(`streams: ${isSilent ? 'a silent' : 'a busy'} one ends when its token is ${rule}`, async () => {
      let isClosed = false
      const stream = endless(isSilent, () => (isClosed = true))
      await using started = await startWithToken({ stream })
      const text = await streamed(started.server.port, started.token, () => change(started.file, started.id))
      const last = JSON.parse(text.trimEnd().split('\n').at(-1)!)
      assert.deepEqual([last.last, last.status, last.errors[0].errorCode], [true, 'ERROR', 'crud:NoAccess'])
      assert.equal(text.match(/"last":true/g)?.length, 1)
      await eventually(() => isClosed, 'the cursor is closed')
    })
  }
}

test('streams: one whose token stays valid continues', async () => {
  await using started = await startWithToken({ stream: endless(false, () => undefined) })
  let seen = 0
  await new Promise<void>((resolve, reject) => {
    const outgoing = openStream(started.server.port, started.token)
    outgoing.on('response', (response) => {
      response.on('error', () => undefined)
      response.on('end', () => reject(new Error('it ended')))
      response.on('data', (chunk: Buffer) => {
        if (seen === 0) void addToken(started.file, { principal: 'bob', roles: [] })
        seen += chunk.length
        if (seen < 3_000_000) return
        response.removeAllListeners('end')
        outgoing.destroy()
        resolve()
      })
    })
    outgoing.on('error', () => undefined)
  })
})

test('streams: one that is not read ends as soon as it is read', async () => {
  const stream = endless(false, () => undefined, 1_000_000)
  await using started = await startWithToken({ stream })
  const { server, file, id, token } = started
  const outgoing = openStream(server.port, token)
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  response.pause()
  await revokeToken(file, id)
  await eventually(async () => (await server.who(bearer(token))) === 401, 'the token is revoked', SOON_MS)
  let tail = ''
  response.on('data', (chunk: Buffer) => (tail = (tail + chunk.toString()).slice(-500)))
  response.resume()
  await once(response, 'end')
  assert.match(tail, /\{"last":true,"status":"ERROR".*crud:NoAccess.*\}\n$/)
})

/** Reads a whole stream, and runs an action meanwhile. */
function streamed(port: number, token: string, change: () => Promise<unknown>): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = openStream(port, token)
    outgoing.setTimeout(10_000, () => outgoing.destroy(new Error('the stream goes on')))
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      let text = ''
      change().catch(reject)
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () => resolve(text))
      response.on('error', reject)
    })
  })
}

function openStream(port: number, token: string) {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Length': 2 }
  const path = '/data/find/x?stream=true'
  return request({ host: '127.0.0.1', port, method: 'POST', path, headers, agent: false }).end('{}')
}

test('tokens: secrets are compared in constant time', () => {
  const source = readFileSync(new URL('../../../src/auth/tokens.ts', import.meta.url), 'utf8')
  assert.match(source, /timingSafeEqual\(hashOf\(secret\), found\?\.hash \?\? NO_HASH\)/)
})
