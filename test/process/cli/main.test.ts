import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, after, test } from 'node:test'
import { SERVER_CERT, SERVER_KEY } from '../../service/auth/certificates.ts'
import { startCli } from '../../support/cli-process.ts'
import { type Ended, runCommand } from '../../support/command.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { PROGRAM } from '../../support/program.ts'

const scratch = mkdtempSync(join(tmpdir(), 'smalt-cli-'))
const children = new Set<ChildProcess>()
after(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(scratch, { recursive: true, force: true })
})

const ENDS: readonly [rule: string, args: string[], code: number, out: RegExp, err: RegExp][] = [
  [
    '--help explains itself by example',
    ['--help'],
    0,
    /smalt --port 9000[^]*--log-level[^]*Exit codes/,
    /^$/,
  ],
  ['help is a command too', ['help'], 0, /Options/, /^$/],
  [
    '--help after a command explains that command',
    ['token', '--help'],
    0,
    /^smalt token: [^]*--principal P/,
    /^$/,
  ],
  ['help and a command do the same', ['help', 'token'], 0, /^smalt token: [^]*--principal P/, /^$/],
  ['help suggests a known command', ['help', 'tokn'], 2, /^$/, /no command tokn; did you mean token\?/],
  ['-h is short for --help', ['-h'], 0, /-h, --help/, /^$/],
  ['--version prints the version alone', ['--version'], 0, /^\d+\.\d+\.\d+\n$/, /^$/],
  ['version is a command too', ['version'], 0, /^\d+\.\d+\.\d+\n$/, /^$/],
  ['-v is short for --version', ['-v'], 0, /^\d+\.\d+\.\d+\n$/, /^$/],
  [
    'an unknown option suggests a known one',
    ['--prt', '1'],
    2,
    /^$/,
    /no option --prt; did you mean --port\?\nsmalt --help lists what there is\.\n$/,
  ],
  [
    'a wrong use of a command points to the help of that command',
    ['find', '--bad'],
    2,
    /^$/,
    /no option --bad\nsmalt find --help explains it\.\n$/,
  ],
  ['an unknown command suggests a known one', ['sevre'], 2, /^$/, /no command sevre; did you mean serve\?/],
  ['start is what serve is called elsewhere', ['strat'], 2, /^$/, /no command strat; did you mean serve\?/],
  ['schema is a word of config', ['shema'], 2, /^$/, /no command shema; did you mean config schema\?/],
  [
    'a wrong word after config suggests schema',
    ['config', 'shema'],
    2,
    /^$/,
    /got shema; did you mean config schema\?/,
  ],
  [
    'only options that the command takes are suggested',
    ['serve', '--fort', '1'],
    2,
    /^$/,
    /no option --fort; did you mean --port\?/,
  ],
  ['and those of the command are', ['move', '--fort', '1'], 2, /^$/, /did you mean --from\?/],
  ['a word too many is refused', ['config', 'all'], 2, /^$/, /takes no further words/],
  ['an option without its value is refused', ['--port'], 2, /^$/, /--port needs a value/],
  [
    'a bad value names option and allowed values',
    ['--port', 'x'],
    3,
    /^$/,
    /--port must be a whole number from 0 to 65535/,
  ],
  ['a bad level names the levels', ['--log-level', 'loud'], 3, /^$/, /trace, debug, info/],
  [
    'a location that is none is refused',
    ['--store', 'mysql://u:hush@h/d'],
    3,
    /^$/,
    /^(?!.*hush).*--store must be/,
  ],
  [
    'a location that the driver refuses is too',
    ['--store', 'postgres://u:hush@h/d?pool=0', '--port', '0'],
    3,
    /^$/,
    /^(?!.*hush).*pool takes/,
  ],
  ['several processes cannot share SQLite', ['--workers', '2'], 3, /^$/, /--workers must be 1 while/],
  [
    'another address than loopback is refused',
    ['--host', '0.0.0.0'],
    3,
    /^$/,
    /without authentication[^]*--host 127\.0\.0\.1/,
  ],
]
for (const [rule, args, code, out, err] of ENDS) {
  test(`smalt: ${rule}`, async () => {
    const ended = await runCommand(args, { cwd: scratch })
    assert.match(ended.err, err)
    assert.match(ended.out, out)
    assert.equal(ended.code, code)
  })
}

for (const args of [['help'], ['config'], ['completion', 'bash'], ['token', 'list', '--json']]) {
  test(`smalt ${args.join(' ')}: a reader who leaves early is no failure`, async () => {
    const { child, ended } = startCli(args, { cwd: scratch })
    child.stdout!.destroy()
    const { code, err } = await ended
    assert.deepEqual([code, /Error|EPIPE/.test(err)], [0, false], err)
  })
}

test('smalt token add: nobody reads its messages, and it goes on', async () => {
  const { child, ended } = startCli(['token', 'add', '--principal', 'ann', '--data', 'unread'], {
    cwd: scratch,
  })
  child.stderr!.destroy()
  const { code, out } = await ended
  assert.deepEqual([code, out.startsWith('smalt_')], [0, true])
})

test(
  'smalt help: what does not fit on the disk is a failure',
  { skip: !existsSync('/dev/full') && 'needs /dev/full, which only Linux has' },
  () => {
    const command = [process.execPath, PROGRAM, 'help']
    const { status, stderr } = spawnSync('sh', ['-c', '"$0" "$@" > /dev/full', ...command], {
      encoding: 'utf8',
    })
    assert.deepEqual([status, stderr.split('\n').length], [1, 2], stderr)
    assert.match(stderr, /^smalt: the output cannot be written: ENOSPC/)
  },
)

test('config: prints what is in effect as JSON', async () => {
  const environment = { SMALT_PORT: '8', SMALT_HOST: 'localhost' }
  const { out } = await runCommand(['config', '--port', '9'], { environment })
  const { port, host, limits, limitVariables } = JSON.parse(out)
  assert.deepEqual([port, host, limits.nesting], [9, 'localhost', 64])
  assert.equal(limitVariables.nesting, 'SMALT_LIMITS_NESTING')
})

test('config: shows no password', async () => {
  const args = ['config', '--store', 'postgres://u:hush@h/d', '--datasource', 'a=postgres://v:hush@h/d']
  const { out } = await runCommand([...args, '--datasource', 'b=sqlite:/b'])
  assert.doesNotMatch(out, /hush/)
  assert.deepEqual(JSON.parse(out).datasources, [
    { name: 'default', location: 'postgres://u:***@h/d' },
    { name: 'a', location: 'postgres://v:***@h/d' },
    { name: 'b', location: 'sqlite:/b' },
  ])
})

test('serve: tells where further datasources are', async () => {
  const child = start(['--port', '0', '--data', './first', '--datasource', 'more=sqlite:./second'])
  const facts = await listening(child)
  assert.deepEqual(facts.datasources, [`more=${join(realpathSync(scratch), 'second')}`])
  child.kill('SIGTERM')
  assert.equal((await ended(child)).code, 0)
})

test('ready: asks the service of the configuration, also over TLS', async () => {
  const [cert, key] = [join(scratch, 'cert.pem'), join(scratch, 'key.pem')]
  writeFileSync(cert, SERVER_CERT)
  writeFileSync(key, SERVER_KEY, { mode: 0o600 })
  const settings = join(scratch, 'tls.json')
  writeFileSync(settings, JSON.stringify({ tls: { cert, key } }))
  for (const more of [[], ['--config', settings]]) {
    const child = start(['--port', '0', '--data', './asked', ...more])
    const { port } = new URL((await listening(child)).api)
    const ready = await runCommand(['ready', '--port', port, ...more], { cwd: scratch })
    assert.deepEqual(ready, { code: 0, out: 'ready\n', err: '' })
    child.kill('SIGTERM')
    await ended(child)
    const gone = await runCommand(['ready', '--port', port, ...more], { cwd: scratch })
    assert.deepEqual([gone.code, gone.out], [4, ''])
    assert.match(gone.err, /no service answers at https?:\/\/127\.0\.0\.1:\d+: ECONNREFUSED/)
  }
  assert.equal((await runCommand(['ready', '--port', '0'], { cwd: scratch })).code, 3)
})

test('ready: a service that does not answer in time ends it with 4, and says so', async () => {
  const server = createServer(() => undefined)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const { code, err } = await runCommand(['ready', '--port', String(port)], { cwd: scratch })
  server.close()
  assert.equal(code, 4)
  assert.match(err, /no service answers at .*: nothing arrived within 2500 ms/)
})

test('ready: a service that is not ready ends it with 4', async () => {
  const server = createServer((_, response) => response.writeHead(503).end('{"status":"unavailable"}'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const { code, err } = await runCommand(['ready', '--port', String(port)], { cwd: scratch })
  server.close()
  assert.equal(code, 4)
  assert.match(err, /is not ready: \{"status":"unavailable"\}/)
})

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`serve: says where it is, serves, and ends with 0 at ${signal}`, async () => {
    const child = start(['--port', '0', '--data', `./${signal}`])
    const facts = await listening(child)
    assert.match(facts.api, /^http:\/\/127\.0\.0\.1:\d+$/)
    assert.equal(facts.docs, `${facts.api}/docs`)
    assert.equal(facts.data, join(realpathSync(scratch), signal))
    assert.match(facts.store, /^SQLite, /)
    assert.match(await (await fetch(`${facts.api}/metadata`)).text(), /^\{"entities":\[/)
    assert.equal((await fetch(`${facts.api}/ready`)).status, 200)
    child.kill(signal)
    const { code, out } = await ended(child)
    assert.equal(code, 0)
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      lines.filter((line) => line.msg).map((line) => line.msg),
      ['listening', 'ending', 'ended'],
    )
    assert.ok(lines.some((line) => line.route === '/metadata' && line.status === 200))
  })
}

test('serve: a second signal ends it at once with 130', async () => {
  const child = start(['--port', '0', '--data', join(scratch, 'twice')])
  const { port } = new URL((await listening(child)).api)
  const busy = connect(Number(port), '127.0.0.1')
  busy.on('error', () => undefined)
  busy.write(
    'POST /data/bulk HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n',
  )
  // told to go on, the request is under way and keeps the service from ending
  await once(busy, 'data')
  child.kill('SIGTERM')
  await lineWith(child, '"ending"')
  assert.equal(child.exitCode, null)
  child.kill('SIGTERM')
  assert.equal((await ended(child)).code, 130)
})

test('serve: data in use by another process is a conflict', async () => {
  const data = join(scratch, 'locked')
  const first = start(['--port', '0', '--data', data])
  await listening(first)
  const second = await ended(start(['--port', '0', '--data', data]))
  assert.equal(second.code, 6)
  assert.match(second.err, /in use/)
  first.kill('SIGTERM')
  await ended(first)
})

test('serve: nobody else on the machine can read the data', async () => {
  const child = start(['--port', '0', '--data', './mine/inner'])
  await listening(child)
  const made = [
    'mine',
    'mine/inner',
    ...readdirSync(join(scratch, 'mine/inner')).map((each) => `mine/inner/${each}`),
  ]
  assert.ok(made.includes('mine/inner/smalt.db'))
  assert.deepEqual(
    made.filter((each) => (statSync(join(scratch, each)).mode & 0o077) !== 0),
    [],
  )
  child.kill('SIGTERM')
  assert.equal((await ended(child)).code, 0)
})

test('serve: a port in use is a conflict and names the way out', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  const { port } = other.address() as AddressInfo
  const { code, err } = await ended(start(['--port', String(port), '--data', join(scratch, 'port')]))
  other.close()
  assert.equal(code, 6)
  assert.match(err, new RegExp(`port ${port} on 127\\.0\\.0\\.1 is in use; choose another with --port`))
})

test('serve: data that cannot be opened is out of reach', async () => {
  const file = join(scratch, 'file')
  writeFileSync(file, '')
  const { code, err } = await ended(start(['--port', '0', '--data', join(file, 'below')]))
  assert.equal(code, 4)
  assert.match(err, /cannot be opened/)
})

test('serve: a database that refuses the connection is named in one line, with the reason', async (t) => {
  const url = new URL((await usedDatabase(t)).url)
  Object.assign(url, { pathname: '/absent', password: 'hush' })
  const child = start(['--port', '0', '--store', url.href])
  const reason = 'the database refuses the connection: .+; check --store'
  while (!/"listening".*\n/.test(outputs.get(child)!.out)) await once(child.stdout!, 'data')
  child.kill('SIGTERM')
  const { out } = await ended(child)
  const warned = out.split('\n').filter((line) => line.includes('"warn"'))
  assert.equal(warned.length, 1, out)
  assert.match(warned[0]!, new RegExp(`"msg":"${reason}"\\}$`))
  assert.doesNotMatch(out, /hush|stack/)
  const lint = await runCommand(['lint', '--store', url.href])
  assert.equal(lint.code, 4)
  assert.match(lint.err, new RegExp(`^(?!.*hush).*cannot be opened: ${reason}\n$`))
})

async function usedDatabase(t: TestContext): Promise<{ readonly url: string }> {
  const database = await freshDatabase()
  t.after(() => database[Symbol.asyncDispose]())
  return database
}

interface Facts {
  readonly api: string
  readonly docs: string
  readonly data: string
  readonly store: string
  readonly datasources?: readonly string[]
}

interface EndedProcess extends Omit<Ended, 'code'> {
  readonly code: number | null
}

const outputs = new WeakMap<ChildProcess, { out: string; err: string }>()

function start(args: readonly string[]): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SMALT_'))
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: Object.fromEntries(inherited),
    cwd: scratch,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { out: '', err: '' }
  child.stdout.on('data', (chunk) => (output.out += String(chunk)))
  child.stderr.on('data', (chunk) => (output.err += String(chunk)))
  outputs.set(child, output)
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

async function ended(child: ChildProcess): Promise<EndedProcess> {
  const code = await new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  return { code, ...outputs.get(child)! }
}

async function listening(child: ChildProcess): Promise<Facts> {
  return JSON.parse(await lineWith(child, '"listening"'))
}

/** The first whole line of the log that holds this text, as soon as it is there. */
async function lineWith(child: ChildProcess, text: string): Promise<string> {
  const output = outputs.get(child)!
  for (;;) {
    const whole = output.out.split('\n').slice(0, -1)
    const line = whole.find((each) => each.includes(text))
    if (line !== undefined) return line
    if (child.exitCode !== null) throw new Error(output.err)
    await Promise.race([once(child.stdout!, 'data'), once(child, 'close')])
  }
}
