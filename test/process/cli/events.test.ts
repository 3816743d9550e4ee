/** `smalt events`, from outside: what it prints, what it does, and the number it ends with. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createAuthentication } from '../../../src/auth/create.ts'
import { addToken } from '../../../src/auth/token-file.ts'
import { SECRET, deadLetters, eventually, taker } from '../../service/http/sinks-kitchen.ts'
import { type Ended, runCommand } from '../../support/command.ts'
import { startTestServer } from '../../support/server.ts'
import { failLoudly, metadataDocument } from '../../support/service.ts'
import { startSmalt } from '../../support/smalt-process.ts'

const scratch = mkdtempSync(join(tmpdir(), 'smalt-events-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

function run(args: readonly string[], environment: Record<string, string> = {}): Promise<Ended> {
  return runCommand(args, { environment, cwd: scratch })
}

test('events dead: dead letters are listed, shown, tried again and given up', async () => {
  await using kitchen = await deadLetters(['a', 'b', 'c'])
  const { server, receiver } = kitchen
  const at = ['--sink', 'kitchen', '--url', `http://127.0.0.1:${server.port}/`]
  const dead = (action: string, ...more: readonly string[]): Promise<Ended> =>
    run(['events', 'dead', action, ...at, ...more])
  const listed = await dead('list', '--json')
  assert.equal(listed.code, 0, listed.err)
  const [first, second] = JSON.parse(listed.out)
  assert.deepEqual([first.attempts, first.error, first.held], [12, 'status 500', 1])
  const lines = (await dead('list')).out.trimEnd().split('\n')
  assert.equal(lines.length, 3)
  assert.match(lines[0]!, /sandwich\/toppings insert {2}12 attempts: status 500 {2}1 waiting behind it$/)
  const shown = await dead('show', '--event', first.id)
  assert.deepEqual([shown.code, JSON.parse(shown.out).event.documentId], [0, 'a'])
  kitchen.recover()
  const discarded = await dead('discard', '--event', first.id)
  assert.deepEqual([discarded.code, discarded.out], [0, ''])
  const again = await dead('redrive', '--event', second.id)
  assert.deepEqual([again.code, again.err], [0, '1 dead letter of kitchen tried again\n'])
  await eventually(() => receiver.taken.length === 3, 'one of them is told, and what waited behind two')
  const all = await dead('redrive')
  assert.deepEqual([all.code, all.err], [0, '1 dead letter of kitchen tried again\n'])
  await eventually(() => receiver.taken.length === 5, 'all but one are told')
  await eventually(async () => (await kitchen.dead()).length === 0, 'none is left')
  const none = await dead('list')
  assert.deepEqual(none, { code: 0, out: '', err: 'there are no dead letters\n' })
  const gone = await dead('show', '--event', first.id)
  assert.deepEqual([gone.code, gone.out], [1, ''])
  assert.match(gone.err, /^smalt: .*\(crud:UnknownDeadLetter\)\n$/)
})

async function startWithHooks(keepCount: number, ...entities: readonly string[]) {
  const server = await startTestServer({ events: { keepDays: 7, keepCount, roundMs: 50 } })
  const info = { hooks: [{ name: 'all', actions: ['insert'] }] }
  for (const entity of entities) await server.define(entity, { n: { type: 'integer' } }, { info })
  const insert = async (entity: string, count: number): Promise<void> => {
    const data = Array.from({ length: count }, (_, n) => ({ _id: String(n), n }))
    const { json, text } = await server.ask('PUT', `/data/insert/${entity}`, { body: { data } })
    assert.equal(json.status, 'COMPLETE', text)
  }
  return { server, insert, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

function idsIn({ code, out, err }: Ended): readonly string[] {
  assert.equal(code, 0, err)
  return out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).documentId)
}

test('events: those that are stored are printed, also when earlier ones were deleted', async () => {
  await using started = await startWithHooks(3, 'a')
  const { server, insert } = started
  await insert('a', 10)
  await eventually(
    async () => (await server.ask('GET', '/events?since=0')).status === 410,
    'the earlier ones are deleted',
  )
  assert.deepEqual(idsIn(await run(['events', '--url', `http://127.0.0.1:${server.port}`])), ['7', '8', '9'])
})

test('events: many events of other entities do not end the list', async () => {
  await using started = await startWithHooks(1_000_000, 'a', 'b')
  const { server, insert } = started
  await insert('a', 1)
  await insert('b', 6_000)
  const { json } = await server.ask('PUT', '/data/insert/a', { body: { data: { _id: 'late', n: 1 } } })
  assert.equal(json.status, 'COMPLETE')
  const args = ['events', '--entity', 'a', '--url', `http://127.0.0.1:${server.port}`]
  assert.deepEqual(idsIn(await run(args)), ['0', 'late'])
  assert.deepEqual(idsIn(await run([...args, '--since', '1'])), ['late'])
})

const MISUSED: readonly [args: readonly string[], problem: RegExp][] = [
  [['events', 'dead'], /events dead takes list, show, redrive, discard/],
  [
    ['events', 'ded'],
    /events takes no further words, or: dead list \| show \| redrive \| discard; did you mean dead\?/,
  ],
  [['events', '--sink', 'x'], /events without dead takes no --sink/],
  [['events', 'dead', 'list', '--sink', 'x', '--follow'], /events dead takes no --follow/],
  [['events', '--since', 'yesterday'], /--since must be the number of an event/],
  [['events', 'dead', 'lst', '--sink', 'x'], /did you mean list\?/],
  [['events', 'dead', 'list'], /events dead list needs --sink/],
  [['events', 'dead', 'show', '--sink', 'x'], /events dead show needs --event/],
  [['events', 'dead', 'list', '--sink', 'x', '--event', 'y'], /takes no --event/],
  [['events', 'dead', 'list', '--sink', 'x', '--url', 'ftp://h'], /--url must be an http or https address/],
  [['events', 'dead', 'list', '--sink', 'x', '--port', '1'], /events takes no --port/],
  [['serve', '--sink', 'x'], /serve takes no --sink/],
]

for (const [args, problem] of MISUSED) {
  test(`events dead: smalt ${args.join(' ')} is misuse`, async () => {
    const { code, out, err } = await run(args)
    assert.deepEqual([code, out], [2, ''])
    assert.match(err, problem)
  })
}

test('events dead: no service is 4, no right to ask is 5, the token is taken from a variable', async () => {
  const file = join(scratch, 'tokens.json')
  const manager = { principal: 'm', roles: [], permissions: ['events.manage'] } as const
  const { token } = await addToken(file, manager)
  const other = await addToken(file, { principal: 'o', roles: [] })
  const settings = { isOpen: false, hasCertificates: false, permissions: {}, origins: [], tokens: { file } }
  const auth = await createAuthentication(settings, failLoudly)
  await using server = await startTestServer({ auth })
  const args = ['events', 'dead', 'list', '--sink', 'x', '--url', `http://127.0.0.1:${server.port}`]
  assert.equal((await run(args)).code, 5)
  assert.equal((await run(args, { SMALT_TOKEN: other.token })).code, 5)
  for (const ended of [await run(args, { SMALT_TOKEN: token }), await run([...args, '--token', token])]) {
    assert.deepEqual([ended.code, /crud:UnknownSink/.test(ended.err)], [1, true], ended.err)
    assert.ok(!ended.err.includes(token))
  }
  const nobody = await run(['events', 'dead', 'list', '--sink', 'x', '--url', 'http://127.0.0.1:1'])
  assert.equal(nobody.code, 4)
  assert.match(nobody.err, /no service answers at http:\/\/127\.0\.0\.1:1: bad port/)
  const port = await closedPort()
  const refused = await run(['events', '--url', `http://127.0.0.1:${port}`])
  assert.equal(refused.code, 4)
  assert.match(
    refused.err,
    new RegExp(`:${port}: ECONNREFUSED; start it with smalt, or name another address`),
  )
  const plain = await run(['events', '--url', `https://127.0.0.1:${server.port}`])
  assert.equal(plain.code, 4)
  assert.match(plain.err, /no service answers at https:.*; the service may speak http\n$/)
})

/** One that was free a moment ago. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

test('config: shows sinks without their secrets', async () => {
  const sink = { name: 'kitchen', url: 'https://kitchen.example.com/', secret: SECRET, roles: ['cook'] }
  const file = join(scratch, 'sinks.json')
  writeFileSync(file, JSON.stringify({ events: { sinks: [sink] } }))
  const { code, out } = await run(['config', '--config', file], { SMALT_TOKEN: 'x' })
  assert.equal(code, 0)
  assert.deepEqual(JSON.parse(out).events.sinks, [
    { ...sink, kind: 'webhook', filter: {}, secret: 'whsec_***' },
  ])
  assert.ok(!out.includes(SECRET.slice(6, 20)))
})

test('config: shows no query values of URLs', async () => {
  const sink = { name: 'chat', secret: SECRET, roles: ['cook'] }
  const url = 'https://chat.example.com/hooks?token=hush&room=hush&hush#hush'
  const jwt = { issuer: 'https://issuer.example.com', audience: 'smalt' }
  const jwksUrl = 'https://issuer.example.com/keys?key=hush'
  const file = join(scratch, 'urls.json')
  writeFileSync(
    file,
    JSON.stringify({ auth: { jwt: { ...jwt, jwksUrl } }, events: { sinks: [{ ...sink, url }] } }),
  )
  const { code, out, err } = await run(['config', '--config', file])
  assert.equal(code, 0, err)
  const { auth, events } = JSON.parse(out)
  assert.equal(events.sinks[0].url, 'https://chat.example.com/hooks?token=***&room=***&***#***')
  assert.equal(auth.jwt.jwksUrl, 'https://issuer.example.com/keys?key=***')
  assert.doesNotMatch(out, /hush/)
})

test('log: the secrets of sinks do not stand in it, at any level', async () => {
  await using receiver = await taker((response) => {
    response.writeHead(500).end()
    return true
  })
  const sink = { url: receiver.url, secret: SECRET, roles: ['cook'] }
  const file = join(scratch, 'logged.json')
  const events = { allowPrivateAddresses: true, sinks: [{ ...sink, name: 'configured' }] }
  writeFileSync(file, JSON.stringify({ events }))
  await using smalt = await startSmalt(`sqlite:${scratch}/logged`, '--log-level', 'trace', '--config', file)
  assert.equal((await smalt.ask('POST', '/events/sinks', { ...sink, name: 'made' })).status, 200)
  assert.equal((await smalt.ask('POST', '/events/sinks', { ...sink, name: '?' })).status, 400)
  assert.equal((await smalt.ask('PUT', '/events/sinks/configured', sink)).status, 409)
  const hooks = [{ name: 'all', actions: ['insert'] }]
  const body = metadataDocument('logged', { a: { type: 'string' } }, { info: { hooks } })
  assert.equal((await smalt.ask('PUT', '/metadata/logged/1.0.0', body)).status, 200)
  assert.equal((await smalt.ask('PUT', '/data/insert/logged', { data: { a: 'x' } })).status, 200)
  await eventually(() => receiver.asked() >= 2, 'both are asked')
  const text = smalt.lines().map((line) => line.text)
  assert.ok(text.some((line) => line.includes('/events/sinks')))
  assert.ok(!text.join('').includes(SECRET.slice(6, 20)))
  const { text: metrics } = await smalt.ask('GET', '/metrics')
  assert.match(metrics, /^smalt_sink_failures_total\{sink="configured"\} [1-9]/m)
})
