import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startCli } from '../../support/cli-process.ts'
import { type Ended, runCommand } from '../../support/command.ts'
import { PROGRAM } from '../../support/program.ts'

const scratch = mkdtempSync(join(tmpdir(), 'smalt-token-'))
const children = new Set<ChildProcess>()
after(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(scratch, { recursive: true, force: true })
})

function start(args: readonly string[]) {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SMALT_'))
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: Object.fromEntries(inherited),
    cwd: scratch,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

function run(args: readonly string[], environment: Record<string, string> = {}): Promise<Ended> {
  return runCommand(args, { environment, cwd: scratch })
}

const TOKEN = /^smalt_([0-9a-z]{12})_[A-Za-z0-9_-]{43}\n$/

test('token: what is added is listed without its secret, and can be revoked', async () => {
  const data = ['--data', './listed']
  const claims = ['--permission', 'metadata.find', '--claim', 'tenant=a=b', '--expires', '90d']
  const added = await run([
    'token',
    'add',
    '--principal',
    'ann',
    '--role',
    'hr',
    '--role',
    'editor',
    ...claims,
    ...data,
  ])
  assert.equal(added.code, 0, added.err)
  const [, id = ''] = TOKEN.exec(added.out) ?? []
  assert.notEqual(id, '', added.out)
  assert.match(added.err, /shown only now[^]*--auth tokens/)
  const listed = await run(['token', 'list', '--json', ...data])
  const [record] = JSON.parse(listed.out)
  const { created, expires, ...rest } = record
  assert.deepEqual(rest, {
    id,
    principal: 'ann',
    roles: ['hr', 'editor'],
    permissions: ['metadata.find'],
    claims: { tenant: 'a=b' },
  })
  assert.equal(Math.round((Date.parse(expires) - Date.parse(created)) / 86_400_000), 90)
  assert.match(
    (await run(['token', 'list', ...data])).out,
    new RegExp(`^${id}  ann  hr,editor,metadata.find  expires `),
  )
  const revoked = await run(['token', 'revoke', id, ...data])
  assert.deepEqual([revoked.code, revoked.out], [0, ''])
  assert.equal((await run(['token', 'list', ...data])).out, '')
  const again = await run(['token', 'revoke', id, ...data])
  assert.equal(again.code, 1)
  assert.match(again.err, /there is no token/)
})

test(
  'token: a full disk leaves no lock behind',
  { skip: process.platform === 'win32' && 'needs the ulimit of a Unix shell' },
  async () => {
    const args = [process.execPath, PROGRAM, 'token', 'add', '--principal', 'ann', '--data', 'crowded']
    const { status } = spawnSync('sh', ['-c', 'ulimit -f 0; exec "$0" "$@"', ...args], { cwd: scratch })
    assert.equal(status, 1)
    assert.deepEqual(readdirSync(join(scratch, 'crowded')), [])
    assert.equal((await run(args.slice(2))).code, 0)
  },
)

const REMOVED = /^smalt: the output cannot be written: .*; the token was removed again\n$/

test(
  'token: one that does not fit into the output is not kept',
  { skip: !existsSync('/dev/full') && 'needs /dev/full, which only Linux has' },
  async () => {
    const data = ['--data', 'unwritten']
    const args = [process.execPath, PROGRAM, 'token', 'add', '--principal', 'ann', ...data]
    const { status, stderr } = spawnSync('sh', ['-c', '"$0" "$@" > /dev/full', ...args], {
      cwd: scratch,
      encoding: 'utf8',
    })
    assert.match(stderr, REMOVED)
    assert.equal(status, 1)
    assert.equal((await run(['token', 'list', ...data])).out, '')
  },
)

test('token: one that nobody reads is not kept', async () => {
  const data = ['--data', 'unread']
  const { child, ended } = startCli(['token', 'add', '--principal', 'ann', ...data], { cwd: scratch })
  child.stdout!.destroy()
  const { code, err } = await ended
  assert.match(err, REMOVED)
  assert.equal(code, 1)
  assert.equal((await run(['token', 'list', ...data])).out, '')
})

test('token: a claim that is given several times is a list', async () => {
  const data = ['--data', './claims']
  const claims = ['regions=north', 'tenant=a', 'regions=south'].flatMap((claim) => ['--claim', claim])
  const added = await run(['token', 'add', '--principal', 'ann', ...claims, ...data])
  assert.equal(added.code, 0, added.err)
  const [record] = JSON.parse((await run(['token', 'list', '--json', ...data])).out)
  assert.deepEqual(record.claims, { regions: ['north', 'south'], tenant: 'a' })
})

test('token: where there are none, list says so and revoke makes no file', async () => {
  const data = ['--data', './nothing']
  const listed = await run(['token', 'list', ...data])
  assert.deepEqual(listed, { code: 0, out: '', err: 'there are no tokens in ./nothing/tokens.json\n' })
  assert.equal((await run(['token', 'list', '--json', ...data])).out, '[]\n')
  const revoked = await run(['token', 'revoke', 'abc', ...data])
  assert.equal(revoked.code, 1)
  assert.match(revoked.err, /there is no token abc/)
  assert.equal(existsSync(join(scratch, 'nothing')), false)
})

const REFUSED: readonly [args: readonly string[], err: RegExp][] = [
  [['token'], /token takes add, list, or revoke and an id/],
  [['token', 'ad'], /did you mean add\?/],
  [['token', 'revoke'], /revoke and an id/],
  [['token', 'add', 'x'], /token takes/],
  [['token', 'add'], /needs --principal/],
  [['token', 'add', '--principal', 'a', '--permission', 'x'], /--permission must be one of metadata\.find/],
  [['token', 'add', '--principal', 'a', '--claim', 'x'], /--claim must be NAME=VALUE/],
  [['token', 'add', '--principal', 'a', '--role', ' '], /--role must not be empty/],
  [['token', 'add', '--principal', 'a', '--role', 'editor,hr'], /repeat it, as in --role editor --role hr/],
  [['token', 'add', '--principal', 'a', '--expires', '2001-01-01'], /--expires must be/],
  [['token', 'add', '--principal', 'a', '--expires', '0d'], /--expires must be/],
  [['token', 'add', '--principal', 'a', '--expires', 'soon'], /--expires must be/],
  [['token', 'add', '--principal', 'a', '--expires', '2099-02-30'], /--expires must be/],
  [['token', 'add', '--principal', 'a', '--expires', '2099-06-31T12:00:00+02:00'], /--expires must be/],
  [['token', 'add', '--principal', 'a', '--expires', '999999999d'], /--expires must be/],
  [['serve', '--principal', 'a'], /serve takes no --principal/],
  [['token', 'list', '--from', 'x'], /token takes no --from/],
]
for (const [args, err] of REFUSED) {
  test(`smalt ${args.join(' ')}: is a wrong use`, async () => {
    const ended = await run(args)
    assert.match(ended.err, err)
    assert.deepEqual([ended.code, ended.out], [2, ''])
  })
}

test('config: shows no secret, and where each value came from', async () => {
  const proxy = { secret: { env: 'HUSH' }, headers: { principal: 'X-User' } }
  writeFileSync(join(scratch, 'masked.json'), JSON.stringify({ port: 1, auth: { proxy } }))
  const { out } = await run(['config', '--config', 'masked.json'], {
    HUSH: 'hush hush hush hush',
    SMALT_HOST: '::1',
  })
  assert.doesNotMatch(out, /hush hush/)
  const { auth, sources } = JSON.parse(out)
  assert.equal(auth.proxy.secret, '***')
  assert.equal(sources.host, 'SMALT_HOST')
  assert.equal(sources.port, 'masked.json: /port')
})

test('config schema: is JSON Schema with every setting', async () => {
  const { out, code } = await run(['config', 'schema'])
  assert.equal(code, 0)
  const { properties, additionalProperties } = JSON.parse(out)
  assert.equal(additionalProperties, false)
  assert.ok(properties.auth.properties.jwt.properties.issuer)
})

test('config: an unknown key of the file ends with 3 and names its place', async () => {
  writeFileSync(join(scratch, 'wrong.json'), '{"auth":{"tokns":{}}}')
  const { code, err } = await run(['--config', 'wrong.json'])
  assert.equal(code, 3)
  assert.match(err, /wrong\.json: there is no setting \/auth\/tokns; did you mean \/auth\/tokens\?/)
})

test('serve: with tokens it listens anywhere, and a revoked token soon counts no more', async () => {
  const data = ['--data', './served']
  const added = await run(['token', 'add', '--principal', 'ann', '--permission', 'metadata.find', ...data])
  const child = start(['--auth', 'tokens', '--host', '0.0.0.0', '--port', '0', ...data])
  let out = ''
  child.stdout.on('data', (chunk) => (out += String(chunk)))
  while (!/"listening".*\n/.test(out)) await once(child.stdout, 'data')
  const port = /"api":"http:\/\/0\.0\.0\.0:(\d+)"/.exec(out)![1]!
  const ask = async (token?: string) => {
    const headers = token === undefined ? {} : { Authorization: `Bearer ${token.trim()}` }
    const answer = await fetch(`http://127.0.0.1:${port}/metadata`, { headers })
    await answer.text()
    return answer.status
  }
  assert.equal(await ask(), 401)
  assert.equal(await ask(added.out), 200)
  assert.equal((await run(['token', 'revoke', TOKEN.exec(added.out)![1]!, ...data])).code, 0)
  for (const deadline = Date.now() + 60_000; (await ask(added.out)) !== 401; await sleep(20))
    assert.ok(Date.now() < deadline, 'the token still counts')
  const other = await run(['token', 'add', '--principal', 'bob', '--permission', 'metadata.find', ...data])
  for (const deadline = Date.now() + 60_000; (await ask(other.out)) !== 200; await sleep(20))
    assert.ok(Date.now() < deadline, 'the token does not count yet')
  child.kill('SIGTERM')
  await once(child, 'close')
  assert.doesNotMatch(out, /smalt_/)
})
