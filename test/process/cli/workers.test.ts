import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { type TestContext, after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freshDatabase } from '../../support/postgres.ts'
import { askServer } from '../../support/server.ts'
import { ANYONE } from '../../support/service.ts'
import { PROGRAM } from '../../support/program.ts'

const children = new Set<ChildProcess>()
after(() => {
  // without the first process its workers end as well
  for (const child of children) child.kill('SIGKILL')
})

/** A line of the log. */
interface Line {
  readonly msg?: string
  readonly pid?: number
  readonly api?: string
  readonly workers?: number
  readonly data?: string
  readonly route?: string
}

class Smalt {
  readonly child: ChildProcess
  readonly ended: Promise<{ readonly code: number | null; readonly err: string }>
  #out = ''

  constructor(args: readonly string[]) {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SMALT_'))
    this.child = spawn(process.execPath, [PROGRAM, ...args], {
      env: Object.fromEntries(inherited),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    children.add(this.child)
    let err = ''
    this.child.stdout!.on('data', (chunk) => (this.#out += String(chunk)))
    this.child.stderr!.on('data', (chunk) => (err += String(chunk)))
    this.ended = once(this.child, 'close').then(([code]) => {
      children.delete(this.child)
      return { code: code as number | null, err }
    })
  }

  /** All whole lines so far; each must be one object, whichever process wrote it. */
  lines(msg?: string): readonly Line[] {
    const lines = this.#out.split('\n').slice(0, -1)
    const parsed = lines.map((line) => JSON.parse(line) as Line)
    return msg === undefined ? parsed : parsed.filter((line) => line.msg === msg)
  }

  /** Waits until there are so many lines of this kind. */
  async until(msg: string, count: number): Promise<readonly Line[]> {
    for (;;) {
      const lines = this.lines(msg)
      if (lines.length >= count) return lines
      if (this.child.exitCode !== null) throw new Error(`it ended: ${(await this.ended).err}`)
      await Promise.race([once(this.child.stdout!, 'data'), this.ended])
    }
  }
}

async function start(t: TestContext, workers: number, more: readonly string[] = []) {
  const database = await freshDatabase()
  t.after(() => database[Symbol.asyncDispose]())
  const smalt = new Smalt(['--store', database.url, '--workers', String(workers), '--port', '0', ...more])
  const [line] = await smalt.until('listening', 1)
  await smalt.until('worker started', workers)
  const port = Number(new URL(line!.api!).port)
  // each on a connection of its own, so that each may meet another worker
  const ask = (method: string, path: string, body?: object) =>
    askServer({ port }, method, path, body ? { body: JSON.parse(JSON.stringify(body)) } : {})
  return { smalt, port, ask, line: line!, url: database.url }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const ITEM = {
  entityInfo: { name: 'item', defaultVersion: '1.0.0', datastore: { backend: 'postgres' } },
  schema: {
    name: 'item',
    version: { value: '1.0.0', changelog: 'first' },
    status: { value: 'active' },
    access: ANYONE,
    fields: { name: { type: 'string' } },
  },
}

test('workers: several processes serve one port, measure together, and end together', async (t) => {
  const { smalt, ask, line, port } = await start(t, 3)
  assert.equal(line.workers, 3)
  const pids = smalt.lines('worker started').map(({ pid }) => pid!)
  assert.equal(new Set(pids).size, 3)
  assert.equal((await ask('PUT', '/metadata/item/1.0.0', ITEM)).status, 200)
  // every worker has seen it when nobody has answered otherwise for some rounds
  let inARow = 0
  for (const deadline = Date.now() + 120_000; inARow < 12;) {
    assert.ok(Date.now() < deadline, 'a worker never learns of the entity')
    inARow = (await ask('GET', '/metadata/item/1.0.0')).status === 200 ? inARow + 1 : 0
  }
  const inserted = await Promise.all(
    Array.from({ length: 30 }, (_, i) => ask('PUT', '/data/insert/item', { data: { name: `${i}` } })),
  )
  assert.deepEqual(new Set(inserted.map(({ status }) => status)), new Set([200]))
  for (let i = 0; i < 3; i++) {
    const { text } = await ask('GET', '/metrics')
    const counted = /^smalt_http_requests_total\{[^}]*route="\/data\/insert\/\{entity\}"[^}]*\} (\d+)$/m.exec(
      text,
    )
    assert.equal(counted?.[1], '30', text)
  }
  smalt.child.kill('SIGTERM')
  assert.deepEqual(await smalt.ended, { code: 0, err: '' })
  assert.equal(smalt.lines('listening').length, 1)
  assert.equal(smalt.lines('ending').length, 1)
  assert.equal(smalt.lines('ended').length, 1)
  assert.equal(smalt.lines().filter(({ route }) => route === '/data/insert/{entity}').length, 30)
  assert.deepEqual(pids.filter(isAlive), [])
  await assert.rejects(ask('GET', '/health'), new RegExp(`ECONNREFUSED.*${port}`))
})

test('workers: one that dies is replaced, and the port stays even when all of them die', async (t) => {
  const { smalt, ask } = await start(t, 2)
  const isUp = async (): Promise<boolean> => {
    const answer = await ask('GET', '/health').catch(() => undefined)
    return answer?.status === 200
  }
  for (const round of [1, 2, 3]) {
    const alive = smalt.lines('worker started').filter(({ pid }) => isAlive(pid!))
    for (const { pid } of alive.slice(round === 1 ? 1 : 0)) process.kill(pid!, 'SIGKILL')
    await smalt.until('worker ended; another one is started', 2 * round - 1)
    await smalt.until('worker started', 2 * round + 1)
    for (const deadline = Date.now() + 120_000; !(await isUp()); await sleep(20))
      assert.ok(Date.now() < deadline, 'nobody listens any more')
  }
  smalt.child.kill('SIGINT')
  assert.equal((await smalt.ended).code, 0)
})

test('workers: a second signal ends all of them at once', async (t) => {
  const { smalt, port } = await start(t, 2)
  const pids = smalt.lines('worker started').map(({ pid }) => pid!)
  const busy = connect(port, '127.0.0.1')
  busy.on('error', () => undefined)
  busy.write(
    'POST /data/bulk HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n',
  )
  // told to go on, the request is under way and keeps its worker from ending
  await once(busy, 'data')
  smalt.child.kill('SIGTERM')
  await smalt.until('ending', 1)
  smalt.child.kill('SIGTERM')
  assert.equal((await smalt.ended).code, 130)
  for (const pid of pids) while (isAlive(pid)) await sleep(5)
})

test('workers: what keeps the first from listening is told once, with its exit code', async (t) => {
  const database = await freshDatabase()
  t.after(() => database[Symbol.asyncDispose]())
  const other = createServer().listen(0, '127.0.0.1')
  t.after(() => other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const smalt = new Smalt(['--store', database.url, '--workers', '3', '--port', String(port)])
  const { code, err } = await smalt.ended
  assert.equal(code, 6)
  assert.equal(err.match(/is in use; choose another with --port/g)?.length, 1)
})

test('workers: passwords are shown nowhere', async (t) => {
  const database = await freshDatabase()
  t.after(() => database[Symbol.asyncDispose]())
  const url = new URL(database.url)
  url.password = 'hush'
  const smalt = new Smalt(['--store', url.href, '--workers', '2', '--port', '0'])
  const [line] = await smalt.until('listening', 1)
  assert.match(line!.data!, /:\*\*\*@/)
  smalt.child.kill('SIGTERM')
  const { err } = await smalt.ended
  assert.doesNotMatch(JSON.stringify(smalt.lines()) + err, /hush/)
})
