/** Backups: complete or not there, and loaded completely or not at all. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { makeBackup } from '../../../src/service/backup/backup.ts'
import { openBackup } from '../../../src/service/backup/read-backup.ts'
import { restore } from '../../../src/service/backup/restore.ts'
import { openService } from '../../../src/service/open.ts'
import type { Service } from '../../../src/service/service.ts'
import { runCommand } from '../../support/command.ts'
import { SEED } from '../../support/seed.ts'
import { chanceFrom } from '../../support/seeded.ts'
import {
  ADMIN,
  EVERYTHING,
  callerWith,
  documentsOf,
  failLoudly,
  metadataDocument,
  openServiceAt,
} from '../../support/service.ts'
import { freshPlace, onEveryStore } from '../../support/store-kind.ts'
import { PROGRAM } from '../../support/program.ts'

const ACCOUNTS = 10
const ROUNDS = 20
const HOOKS = [{ name: 'logged', actions: ['insert'] }]

const directory = mkdtempSync(join(tmpdir(), 'smalt-backups-'))
const children = new Set<ChildProcess>()
after(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(directory, { recursive: true, force: true })
})
let files = 0
const freshFile = (): string => join(directory, `${++files}.jsonl.gz`)

/** Accounts whose balances add up to 0, and a log with one line for each movement between them. */
async function open(location: string): Promise<Service> {
  const service = await openServiceAt(location)
  const define = (entity: string, fields: object, info: object) =>
    service.metadata.create(
      ADMIN,
      { entity, version: '1.0.0' },
      metadataDocument(entity, { ...fields }, { info: { ...info } }),
    )
  await define('account', { balance: { type: 'integer' }, moves: { type: 'integer' } }, { history: true })
  await define('log', { text: { type: 'string' } }, { hooks: HOOKS })
  const data = Array.from({ length: ACCOUNTS }, (_, i) => ({ _id: `${i}`, balance: 0, moves: 0 }))
  await service.data.insert(ADMIN, { entity: 'account' }, { data })
  return service
}

/** In one transaction. */
async function transfer({ data }: Service, from: number, to: number): Promise<void> {
  const change = (id: number, by: JsonObject): JsonObject => ({
    entity: 'account',
    query: { field: '_id', op: '=', rvalue: `${id}` },
    update: { $add: by },
  })
  const text = await data.bulk(ADMIN, {
    atomic: true,
    requests: [
      { seq: 1, op: 'update', request: change(from, { balance: -1, moves: 1 }) },
      { seq: 2, op: 'update', request: change(to, { balance: 1 }) },
      { seq: 3, op: 'insert', request: { entity: 'log', data: { text: 'x'.repeat(50) } } },
    ],
  })
  assert.match(text, /"status":"COMPLETE"/)
}

interface State {
  readonly balance: number
  readonly logged: number
}

async function stateIn(location: string): Promise<State> {
  await using service = await openServiceAt(location)
  const find = async (entity: string) =>
    documentsOf(await service.data.find(ADMIN, { entity }, { projection: EVERYTHING }))
  const accounts = await find('account')
  return {
    balance: accounts.reduce((total, { balance }) => total + Number(balance), 0),
    logged: (await find('log')).length,
  }
}

function start(...args: readonly string[]) {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SMALT_'))
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: Object.fromEntries(inherited),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  children.add(child)
  let err = ''
  child.stderr.on('data', (chunk) => (err += String(chunk)))
  const ended = once(child, 'close').then(([code]) => {
    children.delete(child)
    return { code: code as number | null, err }
  })
  return { child, ended }
}

onEveryStore(() => {
  test('backup: a restored store is the same, of either kind, and can be backed up to the same content', async () => {
    await using place = await freshPlace()
    await using service = await open(place.location)
    for (let i = 0; i < 5; i++) await transfer(service, i, i + 1)
    const keyed = { key: 'k', fingerprint: 'f' }
    const write = {
      operation: 'insert',
      target: { entity: 'log' },
      body: { data: { text: 'once' } },
    } as const
    const answer = await service.once.data(ADMIN, write, keyed)
    const file = freshFile()
    const { documents } = await makeBackup({ from: place.location, file })
    assert.equal(documents, ACCOUNTS + 6)
    const lines = gunzipSync(readFileSync(file)).toString().split('\n')
    assert.ok(lines.length > 10)
    for (const line of lines.filter((each) => each !== '')) JSON.parse(line)
    const contents: string[] = []
    for (const other of ['sqlite', 'postgres'] as const) {
      await using target = await freshPlace(other)
      await restore({ file, to: target.location })
      {
        await using restored = await openServiceAt(target.location)
        const again = await restored.once.data(ADMIN, write, keyed)
        assert.deepEqual(again, { ...answer, isRepeated: true })
      }
      const copy = freshFile()
      await makeBackup({ from: target.location, file: copy })
      await using content = await openBackup(copy)
      const { collection } = (await content.collections()).find((each) => each.collection.name === 'account')!
      const pages = await Array.fromAsync(content.documents(collection))
      contents.push(JSON.stringify(pages.flat().sort((a, b) => (a.key < b.key ? -1 : 1))))
    }
    assert.equal(contents[0], contents[1])
  })

  test('backup: a file that appears while the backup is made is not replaced', async () => {
    await using place = await freshPlace()
    {
      await using service = await openServiceAt(place.location)
      await service.metadata.create(
        ADMIN,
        { entity: 'e', version: '1.0.0' },
        metadataDocument('e', { s: { type: 'string' } }),
      )
      await service.data.insert(ADMIN, { entity: 'e' }, { data: { _id: '1' } })
    }
    const file = freshFile()
    const making = makeBackup({
      from: place.location,
      file,
      // The file was absent when the backup began, and is there when its documents are written.
      onProgress: () => writeFileSync(file, 'of somebody else'),
    })
    await assert.rejects(making, /exists; a backup never replaces a file/)
    assert.equal(readFileSync(file, 'utf8'), 'of somebody else')
    assert.deepEqual(
      readdirSync(dirname(file)).filter((each) => each.startsWith(`${basename(file)}.`)),
      [],
    )
  })

  test('backup: the commands, and what they refuse', async () => {
    await using place = await freshPlace()
    await (await open(place.location))[Symbol.asyncDispose]()
    const file = freshFile()
    const store = ['--store', place.location]
    const made = await runCommand(['backup', file, ...store])
    assert.deepEqual([made.code, made.err], [0, ''])
    assert.match(made.out, /^backed up and read back 10 documents/)
    await using target = await freshPlace()
    const to = ['--store', target.location]
    const restored = await runCommand(['restore', file, '--json', ...to])
    assert.equal(restored.code, 0, restored.err)
    assert.equal((JSON.parse(restored.out) as { documents: number }).documents, ACCOUNTS)
    const rows: readonly (readonly [readonly string[], number, RegExp])[] = [
      [['backup', file, ...store], 6, /exists; a backup never replaces a file/],
      [['backup', '/none/b.jsonl.gz', ...store], 1, /the directory \/none does not exist/],
      [['backup', freshFile(), '--store', `sqlite:${directory}/none`], 4, /there is no store in/],
      [['backup', ...store], 2, /needs the name of one file/],
      [['restore', file, ...to], 6, /is not empty/],
      [['restore', `${directory}/none`, ...to], 3, /there is no file/],
      [['restore', PROGRAM, ...to], 1, /damaged, or no backup/],
    ]
    for (const [args, code, message] of rows) {
      const ended = await runCommand(args)
      assert.equal(ended.code, code, `${args[0]}: ${ended.err}`)
      assert.match(ended.err, message)
    }
    const bytes = readFileSync(file)
    for (const [i, spoiled] of [bytes.subarray(0, -1), Buffer.from(bytes)].entries()) {
      if (i === 1) spoiled[Math.floor(bytes.length / 2)]! ^= 1
      const bad = freshFile()
      writeFileSync(bad, spoiled)
      await using empty = await freshPlace()
      const ended = await runCommand(['restore', bad, '--store', empty.location])
      assert.equal(ended.code, 1)
      assert.match(ended.err, /damaged/)
    }
  })

  const onUnix = { skip: process.platform === 'win32' && 'needs the ulimit of a Unix shell' }
  test('backup: without room for it there is no file, and a message', onUnix, async () => {
    await using place = await freshPlace()
    await (await open(place.location))[Symbol.asyncDispose]()
    const room = mkdtempSync(join(directory, 'room-'))
    const args = [process.execPath, PROGRAM, 'backup', join(room, 'b.jsonl.gz'), '--store', place.location]
    const limited = ['-c', 'ulimit -f 1; exec "$0" "$@"', ...args]
    const { status, stderr } = spawnSync('sh', limited, { encoding: 'utf8' })
    assert.equal(status, 1, stderr)
    assert.match(stderr, /^smalt: the backup cannot be (?:written|made): .+\n$/)
    assert.deepEqual(readdirSync(room), [])
    const read = await runCommand(['restore', room, '--data', join(room, 'none')])
    // how large a directory is depends on the file system
    assert.match(read.err, /^smalt: .*(?: cannot be read: EISDIR|: it is too short)/)
  })

  test(`backup: killed ${ROUNDS} times while it is made, and as often while it is restored, nothing is half done (seed ${SEED})`, async (t) => {
    const chance = chanceFrom(SEED)
    await using place = await freshPlace()
    await using service = await open(place.location)
    const data = Array.from({ length: 1_500 }, (_, i) => ({ _id: `d${i}`, text: `${i}`.repeat(20) }))
    await service.data.insert(ADMIN, { entity: 'log' }, { data })
    const whole = freshFile()
    const began = performance.now()
    const first = start('backup', whole, '--store', place.location)
    assert.equal((await first.ended).code, 0)
    const fullMs = performance.now() - began
    const killed = async (...args: readonly string[]): Promise<number | null> => {
      const { child, ended } = start(...args)
      // later than alone, because another one runs at the same time
      const timer = setTimeout(() => child.kill('SIGKILL'), fullMs * (0.4 + chance(90) / 100))
      const { code } = await ended
      clearTimeout(timer)
      return code
    }
    let [cutBackups, cutRestores] = [0, 0]
    const making = async (): Promise<void> => {
      const file = freshFile()
      if ((await killed('backup', file, '--store', place.location)) !== 0) cutBackups++
      if (!existsSync(file)) return
      await using content = await openBackup(file)
      await content.verify()
    }
    const restoring = async (): Promise<void> => {
      await using target = await freshPlace()
      if ((await killed('restore', whole, '--store', target.location)) !== 0) {
        cutRestores++
        await restore({ file: whole, to: target.location, discardsIncomplete: true }).catch((error) => {
          // Killed after its last step, while it exited.
          assert.match(String(error), /is not empty/)
        })
      }
      assert.deepEqual(await stateIn(target.location), { balance: 0, logged: 1_500 })
    }
    for (let round = 0; round < ROUNDS; round++) await Promise.all([making(), restoring()])
    t.diagnostic(`${cutBackups} of ${ROUNDS} backups and ${cutRestores} of ${ROUNDS} restores were cut short`)
    assert.ok(cutBackups > 0 && cutRestores > 0)
  })
})

test(
  'restore, move: without room in the target they fail with a message, and can be repeated',
  { skip: process.platform === 'win32' && 'needs the ulimit of a Unix shell' },
  async () => {
    await using place = await freshPlace('sqlite')
    await using target = await freshPlace('sqlite')
    await insertLargeDocuments(place.location)
    const file = freshFile()
    await makeBackup({ from: place.location, file })
    const commands = [
      ['restore', file, '--store', target.location],
      ['move', '--from', place.location, '--to', target.location],
    ]
    for (const args of commands) {
      const limited = ['-c', 'ulimit -f 2000; exec "$0" "$@"', process.execPath, PROGRAM, ...args]
      const { status, stderr } = spawnSync('sh', limited, { encoding: 'utf8' })
      assert.deepEqual([status, /^smalt: SQLite reports: .+\n$/.test(stderr)], [1, true], stderr)
    }
    const { code, err } = await runCommand(commands[0]!)
    assert.equal(code, 0, err)
  },
)

/** 4 MB of documents. */
async function insertLargeDocuments(location: string): Promise<void> {
  await using service = await openServiceAt(location)
  const body = metadataDocument('log', { text: { type: 'string' } }, { info: { datastore: {} } })
  await service.metadata.create(ADMIN, { entity: 'log', version: '1.0.0' }, body)
  const data = Array.from({ length: 40 }, () => ({ text: 'x'.repeat(100_000) }))
  await service.data.insert(ADMIN, { entity: 'log' }, { data })
}

/** A disk of its own for one command, in a namespace that ends with it. */
const smallDisk = (size: string, ...args: readonly string[]) =>
  spawnSync(
    'unshare',
    ['-rm', 'sh', '-c', 'mount -t tmpfs -o size="$0" tmpfs "$1" && shift && exec "$@"', size, ...args],
    { encoding: 'utf8' },
  )
const hasSmallDisks = smallDisk('64k', directory, 'true').status === 0

for (const [size, message] of [
  ['64k', /cannot be opened: database or disk is full\n$/],
  ['1m', /^smalt: the disk is full; nothing was stored\n$/],
] as const) {
  test(
    `restore, move: a disk of ${size} that becomes full is a failure, not a store out of reach`,
    { skip: !hasSmallDisks && 'needs unshare, and the right to mount in a namespace of its own' },
    async () => {
      await using place = await freshPlace('sqlite')
      await insertLargeDocuments(place.location)
      const file = freshFile()
      await makeBackup({ from: place.location, file })
      const disk = mkdtempSync(join(directory, 'disk-'))
      const target = `sqlite:${join(disk, 'data')}`
      const commands = [
        ['restore', file, '--store', target],
        ['move', '--from', place.location, '--to', target],
      ]
      for (const args of commands) {
        const { status, stderr } = smallDisk(size, disk, process.execPath, PROGRAM, ...args)
        assert.match(stderr, message)
        assert.equal(status, 1)
      }
    },
  )
}

test('backup: documents in other datasources are not part of it, and the command says so', async () => {
  await using place = await freshPlace('sqlite')
  await using other = await freshPlace('sqlite')
  const datasources = [
    { name: 'default', location: place.location },
    { name: 'attic', location: other.location },
  ]
  {
    await using service = await openService({
      datasources,
      limits: DEFAULT_LIMITS,
      onInternalError: failLoudly,
      backup: { directory: join(directory, 'several'), keep: 1 },
    })
    const info = { datastore: { datasource: 'attic' } }
    const body = metadataDocument('old', { x: { type: 'string' } }, { info })
    await service.metadata.create(ADMIN, { entity: 'old', version: '1.0.0' }, body)
    await service.data.insert(ADMIN, { entity: 'old' }, { data: { x: 'y' } })
    const { backups } = (await service.backups.make(ADMIN)) as { backups: readonly JsonObject[] }
    assert.deepEqual(
      backups.map((each) => [each['documents'], 'elsewhere' in each]),
      [
        [0, false],
        [1, false],
      ],
    )
  }
  const { code, out, err } = await runCommand(['backup', freshFile(), '--json', '--store', place.location])
  assert.equal(code, 0, err)
  assert.match(err, /are not part of this backup: old \(attic\); back up each datasource with --store/)
  assert.deepEqual((JSON.parse(out) as JsonObject)['elsewhere'], ['old (attic)'])
  const rest = await runCommand(['backup', freshFile(), '--store', other.location])
  assert.deepEqual([rest.code, rest.err], [0, ''])
  assert.match(rest.out, /^backed up and read back 1 documents/)
})

test('backup: the service makes them on request and on a schedule, and keeps the newest', async () => {
  await using place = await freshPlace('sqlite')
  const backups = join(directory, 'scheduled')
  await using service = await openService({
    datasources: [{ name: 'default', location: place.location }],
    limits: DEFAULT_LIMITS,
    onInternalError: failLoudly,
    backup: { directory: backups, everyMs: 1_000, keep: 2 },
  })
  const seen = new Set<string>()
  const deadline = performance.now() + 60_000
  while (seen.size < 4 && performance.now() < deadline) {
    for (const file of readdirSync(directory).includes('scheduled') ? readdirSync(backups) : [])
      if (file.endsWith('-default.jsonl.gz')) seen.add(file)
    await sleep(20)
  }
  assert.ok(seen.size >= 4, [...seen].join())
  const settled = async (): Promise<void> => {
    while (performance.now() < deadline) {
      const made = await service.backups.make(ADMIN).catch(() => undefined)
      if (made === undefined) await sleep(50)
      else return
    }
  }
  await settled()
  const kept = readdirSync(backups).filter((file) => file.endsWith('.jsonl.gz'))
  assert.ok(kept.length <= 2, kept.join())
  const nobody = { ...callerWith(), permissions: new Set<never>() }
  await assert.rejects(service.backups.make(nobody), /permission backup.make/)
})

test('backup: a datasource that cannot be backed up neither delays nor repeats the backups of others', async () => {
  await using place = await freshPlace('sqlite')
  await using lost = await freshPlace('sqlite')
  await using other = await freshPlace('sqlite')
  const backups = join(directory, 'partly')
  const failures: string[] = []
  await using _service = await openService({
    datasources: [
      { name: 'default', location: place.location },
      { name: 'lost', location: lost.location },
      { name: 'other', location: other.location },
    ],
    limits: DEFAULT_LIMITS,
    onInternalError: (error) => failures.push((error as Error).message),
    backup: { directory: backups, everyMs: 3_600_000, lookEveryMs: 100, keep: 2 },
  })
  const lostFile = join(lost.location.replace(/^sqlite:/, ''), 'smalt.db')
  renameSync(lostFile, `${lostFile}.gone`)
  const deadline = performance.now() + 60_000
  while (failures.length < 4 && performance.now() < deadline) await sleep(20)
  assert.match(failures[3] ?? '', /the backup was not made: there is no store in/)
  const made = readdirSync(backups).map((file) => file.replace(/^smalt-\w+-(\w+)\.jsonl\.gz$/, '$1'))
  assert.deepEqual(made.sort(), ['default', 'other'])
})

test('backup: no lock of a client keeps the service from making them', async () => {
  await using place = await freshPlace('sqlite')
  const backups = join(directory, 'locked')
  const datasources = [{ name: 'default', location: place.location }]
  const options = { datasources, limits: DEFAULT_LIMITS, onInternalError: failLoudly }
  {
    await using before = await openService(options)
    const lock = { operation: 'acquire', callerId: 'me', resourceId: 'backup' }
    assert.equal(await before.data.lock(ADMIN, { ...lock, domain: 'smalt' }), true)
    await assert.rejects(before.data.lock(ADMIN, { ...lock, domain: '' }), /"domain" must be a text/)
  }
  await using _service = await openService({
    ...options,
    backup: { directory: backups, everyMs: 500, keep: 1 },
  })
  const deadline = performance.now() + 30_000
  const isMade = (): boolean => readdirSync(directory).includes('locked') && readdirSync(backups).length > 0
  while (!isMade() && performance.now() < deadline) await sleep(50)
  assert.ok(isMade())
})
