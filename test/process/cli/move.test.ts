import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { createProgress } from '../../../src/cli/run/progress.ts'
import { move as runMove } from '../../../src/service/move/move.ts'
import type { Progress } from '../../../src/service/move/copy.ts'
import type { MoveError } from '../../../src/service/move/move-error.ts'
import { printResponse } from '../../../src/service/response.ts'
import type { Service } from '../../../src/service/service.ts'
import { openStore } from '../../../src/store/open.ts'
import type { StoreKind } from '../../../src/store/store.ts'
import { type Ended, runCommand } from '../../support/command.ts'
import { rowsOf, startPostgres } from '../../support/postgres.ts'
import {
  ADMIN,
  ANYONE,
  EVERYTHING,
  callerWith,
  dataErrorCodes,
  documentsOf,
  json,
  metadataDocument,
  openServiceAt,
} from '../../support/service.ts'
import { type Place, directoryOf, freshPlace } from '../../support/store-kind.ts'
import { PROGRAM } from '../../support/program.ts'

const children = new Set<ChildProcess>()
after(() => {
  for (const child of children) child.kill('SIGKILL')
})

interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<Omit<Ended, 'code'> & { readonly code: number | null }>
}

/** A process of its own, which can be killed. */
function start(...args: readonly string[]): Started {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SMALT_'))
  const env = Object.fromEntries(inherited)
  const child = spawn(process.execPath, [PROGRAM, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  children.add(child)
  const output = { out: '', err: '' }
  child.stdout.on('data', (chunk) => (output.out += String(chunk)))
  child.stderr.on('data', (chunk) => (output.err += String(chunk)))
  const ended = once(child, 'close').then(([code]) => {
    children.delete(child)
    return { code: code as number | null, ...output }
  })
  return { child, ended }
}

function move(from: string, to: string, ...more: readonly string[]): Promise<Ended> {
  return runCommand(['move', '--from', from, '--to', to, ...more])
}

async function moved(from: string, to: string): Promise<JsonObject> {
  const { code, out, err } = await move(from, to, '--json')
  assert.equal(code, 0, err)
  return json(out) as JsonObject
}

async function place(t: TestContext, kind: StoreKind): Promise<string> {
  const made = await freshPlace(kind)
  t.after(() => made[Symbol.asyncDispose]())
  return made.location
}

async function using<T>(location: string, work: (service: Service) => Promise<T>): Promise<T> {
  await using service = await openServiceAt(location)
  return await work(service)
}

const SEQUENCE = { type: 'IntSequence', configuration: { name: 'numbers', initialValue: 100, increment: 7 } }

const THING: JsonObject = {
  _id: { type: 'string', constraints: { identity: true } },
  name: { type: 'string' },
  exact: { type: 'bigdecimal' },
  huge: { type: 'biginteger' },
  real: { type: 'double' },
  'ключ "ü"': { type: 'string' },
  whatever: { type: 'any' },
  no: { type: 'integer', valueGenerator: SEQUENCE },
  parts: { type: 'array', items: { type: 'object', fields: { code: { type: 'string' } } } },
}

const THING_INFO: JsonObject = {
  indexes: [
    { name: 'names', unique: true, fields: [{ field: 'name', caseInsensitive: true }] },
    { name: 'codes', unique: true, fields: [{ field: 'parts.*.code' }] },
    { name: 'words', kind: 'text', language: 'german', fields: [{ field: 'name' }] },
    { name: 'numbers', unique: false, fields: [{ field: 'exact', dir: '$desc' }, { field: 'real' }] },
  ],
}

/** Members in no particular order, and every way to write a number. */
const THINGS = `[
  {"whatever":{"ключ":[1.50,{"b":2e-7,"a":null}],"\\u00e9\\"":"😀"},"_id":"ü/1","name":"Straße","exact":1.500,"no":null},
  {"_id":"2","exact":-12345678901234567890.12345678901234567890,"huge":123456789012345678901234567890,"no":null},
  {"_id":"3","exact":1e30,"real":1.7976931348623157e308,"whatever":1.0,"name":"dotted İ","no":null},
  {"_id":"10","exact":0.0,"real":-0.0,"whatever":"1E+2","ключ \\"ü\\"":"\\\\ \\" { } , null","no":null},
  {"_id":"{\\"","whatever":[],"parts":[{"code":"a"},{"code":"b"},{}],"no":null},
  {"_id":" ","whatever":9007199254740993,"parts":[{"code":"A"}],"name":"NULL","no":null}]`

const ID_TYPES: readonly (readonly [entity: string, type: string, ids: string])[] = [
  ['whole', 'integer', '[{"_id":9007199254740993},{"_id":-5},{"_id":0}]'],
  ['real', 'double', '[{"_id":0.1},{"_id":-1e300},{"_id":12}]'],
  ['huge', 'biginteger', '[{"_id":123456789012345678901234567890},{"_id":5},{"_id":-70}]'],
  ['exact', 'bigdecimal', '[{"_id":0.10},{"_id":-1e3},{"_id":7}]'],
  ['day', 'date', '[{"_id":"20240102T03:04:05.678+0000"}]'],
]

async function fill(service: Service): Promise<void> {
  const define = async (entity: string, fields: Json, info: JsonObject = {}, schema: JsonObject = {}) =>
    void (await service.metadata.create(
      ADMIN,
      { entity, version: '1.0.0' },
      metadataDocument(entity, fields, { info, schema }),
    ))
  const insert = async (entity: string, data: Json): Promise<void> => {
    const response = await service.data.insert(ADMIN, { entity }, { data })
    assert.equal(response.status, 'COMPLETE', printResponse(response))
  }
  await define('thing', THING, THING_INFO)
  await insert('thing', json(THINGS))
  for (const value of ['once', 'twice']) {
    const body = {
      query: { field: '_id', op: '$in', values: ['2', '10'] },
      update: { $set: { whatever: value } },
    }
    assert.equal((await service.data.update(ADMIN, { entity: 'thing' }, body)).modifiedCount, 2)
  }
  for (const [entity, type, ids] of ID_TYPES) {
    await define(entity, { _id: { type, constraints: { identity: true } } })
    await insert(entity, json(ids))
  }
  await define('veiled', {
    _id: { type: 'string', constraints: { identity: true }, access: { find: ['keeper'] } },
    x: { type: 'integer' },
  })
  await insert('veiled', [{ _id: 'secret', x: 1 }])
  await define('gone', { _id: { type: 'biginteger', constraints: { identity: true } } })
  await insert('gone', json('[{"_id":5},{"_id":123456789012345678901234567890}]'))
  await service.metadata.clearDefault(ADMIN, 'gone')
  await service.metadata.setStatus(ADMIN, { entity: 'gone', version: '1.0.0' }, { status: 'disabled' })
  await service.metadata.remove(ADMIN, 'gone', { documents: 'keep' })
}

const ENTITIES = ['thing', 'veiled', ...ID_TYPES.map(([entity]) => entity)]

/** All that can be asked about what is stored, as text; the name of the backend is left out. */
async function everything(service: Service): Promise<readonly string[]> {
  const texts: string[] = [JSON.stringify(service.metadata.names(ADMIN, undefined))]
  for (const entity of ENTITIES) {
    for (const caller of [ADMIN, callerWith('keeper')]) {
      texts.push(printResponse(await service.data.find(caller, { entity }, { projection: EVERYTHING })))
    }
    const metadata = JSON.stringify(service.metadata.get(ADMIN, entity, '1.0.0'))
    texts.push(metadata.replace(/"backend":"(sqlite|postgres)"/, '"backend":"…"'))
  }
  for (const entity of [...ENTITIES, 'gone', 'savedSearch']) {
    texts.push(JSON.stringify(await service.metadata.history(ADMIN, entity)))
  }
  return texts
}

async function checkRules(service: Service): Promise<void> {
  const query = { text: 'STRASSEN', index: 'words' }
  const byStem = await service.data.find(ADMIN, { entity: 'thing' }, { query, projection: EVERYTHING })
  assert.equal(byStem.matchCount, 1)
  const refused = ['{"name":"sTRAßE"}', '{"name":"null"}', '{"parts":[{"code":"z"},{"code":"b"}]}']
  for (const text of refused) {
    const response = await service.data.insert(ADMIN, { entity: 'thing' }, { data: json(text) })
    assert.deepEqual(dataErrorCodes(response), [['store-crud:Duplicate']], text)
  }
  for (const [entity, , ids] of ID_TYPES) {
    for (const { _id } of json(ids) as readonly JsonObject[]) {
      const query = { field: '_id', op: '=', rvalue: _id! }
      const found = await service.data.find(ADMIN, { entity }, { query, projection: EVERYTHING })
      assert.equal(found.matchCount, 1, `${entity} ${JSON.stringify(_id)}`)
      const again = await service.data.insert(ADMIN, { entity }, { data: { _id: _id! } })
      assert.deepEqual(dataErrorCodes(again), [['store-crud:Duplicate']], entity)
    }
  }
}

async function nextNumber(service: Service): Promise<Json> {
  const body = { data: { no: null }, projection: EVERYTHING }
  const response = await service.data.insert(ADMIN, { entity: 'thing' }, body)
  assert.equal(response.status, 'COMPLETE', printResponse(response))
  return documentsOf(response)[0]!['no']!
}

test('move: SQLite to PostgreSQL and back again keeps every byte, version, sequence and rule', async (t) => {
  const first = await place(t, 'sqlite')
  const second = await place(t, 'postgres')
  const third = await place(t, 'sqlite')
  const before = await using(first, async (service) => {
    await fill(service)
    return await everything(service)
  })
  const there = await moved(first, second)
  assert.equal(there['documents'], 22)
  const back = await moved(second, third)
  assert.deepEqual(checksums(back), checksums(there))
  for (const location of [second, third]) {
    await using(location, async (service) => {
      assert.deepEqual(await everything(service), before)
      await checkRules(service)
      assert.equal(await nextNumber(service), 142)
    })
  }
  // what was removed is forgotten nowhere: under its old name the documents are there again
  await using(third, async (service) => {
    const fields = { _id: { type: 'biginteger', constraints: { identity: true } } }
    await service.metadata.create(ADMIN, { entity: 'gone', version: '2.0.0' }, goneAgain(fields))
    for (const text of ['5', '123456789012345678901234567890']) {
      const query = { field: '_id', op: '=', rvalue: json(text) }
      assert.equal(
        (await service.data.find(ADMIN, { entity: 'gone' }, { query, projection: EVERYTHING })).matchCount,
        1,
      )
    }
  })
})

function goneAgain(fields: JsonObject): JsonObject {
  const { entityInfo, schema } = metadataDocument('gone', fields)
  return {
    entityInfo: { ...(entityInfo as JsonObject), defaultVersion: '2.0.0' },
    schema: { ...(schema as JsonObject), version: { value: '2.0.0', changelog: 'again' }, access: ANYONE },
  }
}

function checksums(summary: JsonObject): readonly Json[] {
  return (summary['collections'] as readonly JsonObject[])
    .map(({ name, documents, checksum }): Json => [name!, documents!, checksum!])
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}

test('move: versions that clients hold, also of documents whose id is hidden from them, stay valid', async (t) => {
  const [from, to] = [await place(t, 'sqlite'), await place(t, 'postgres')]
  const held = await using(from, async (service) => {
    await fill(service)
    const found = await service.data.find(ADMIN, { entity: 'veiled' }, { projection: EVERYTHING })
    return (json(found.resultMetadata![0]!) as JsonObject)['documentVersion']!
  })
  assert.doesNotMatch(JSON.stringify(held), /secret/)
  await moved(from, to)
  await using(to, async (service) => {
    const body = {
      query: { field: 'x', op: '=', rvalue: 1 },
      update: { $set: { x: 2 } },
      onlyIfCurrent: true,
      documentVersions: [held],
    }
    const { modifiedCount } = await service.data.update(ADMIN, { entity: 'veiled' }, body)
    assert.equal(modifiedCount, 1)
  })
})

for (const kind of ['sqlite', 'postgres'] as const) {
  test(`move: a target of ${kind} that is not empty is a conflict and stays as it is`, async (t) => {
    const [from, to] = [await place(t, 'sqlite'), await place(t, kind)]
    await using(from, fill)
    await using(to, async () => undefined)
    for (const more of [[], ['--check'], ['--restart']]) {
      const { code, err, out } = await move(from, to, ...more)
      assert.deepEqual([code, out], [6, ''])
      assert.match(err, /is not empty/)
    }
    await using(to, async ({ metadata }) => {
      assert.deepEqual(metadata.names(ADMIN, undefined), { entities: ['savedSearch'] })
    })
  })
}

test('move: a source in use is a conflict', async (t) => {
  const [from, to] = [await place(t, 'sqlite'), await place(t, 'postgres')]
  await using(from, async () => {
    const { code, err } = await start('move', '--from', from, '--to', to).ended
    assert.equal(code, 6)
    assert.match(err, /in use by another Smalt process/)
  })
})

test('move: --check counts and copies nothing', async (t) => {
  const [from, to] = [await place(t, 'sqlite'), await place(t, 'postgres')]
  await using(from, fill)
  const { code, out } = await move(from, to, '--check')
  assert.equal(code, 0)
  assert.match(
    out,
    /6 in thing\n[^]*nothing is in the way of moving 22 documents, [^]* versions, 1 sequence from/,
  )
  await moved(from, to)
})

test('move: entities of other datasources are refused by name', async (t) => {
  const [from, other, to] = [await place(t, 'sqlite'), await place(t, 'sqlite'), await place(t, 'postgres')]
  const { openService } = await import('../../../src/service/open.ts')
  const { DEFAULT_LIMITS } = await import('../../../src/base/limits.ts')
  const datasources = [
    { name: 'default', location: from },
    { name: 'attic', location: other },
  ]
  {
    await using service = await openService({
      datasources,
      limits: DEFAULT_LIMITS,
      onInternalError: () => undefined,
    })
    const info = { datastore: { backend: 'sqlite', datasource: 'attic' } }
    const body = metadataDocument('old', { x: { type: 'string' } }, { info })
    await service.metadata.create(ADMIN, { entity: 'old', version: '1.0.0' }, body)
  }
  const { code, err } = await move(from, to)
  assert.equal(code, 1)
  assert.match(err, /other datasources, which are not moved: old \(attic\)/)
})

const REFUSED: readonly [rule: string, args: string[], code: number, err: RegExp][] = [
  ['a source is needed', ['--to', 'sqlite:./x'], 2, /move needs --from[^]*smalt move --help explains/],
  ['a target is needed', ['--from', 'sqlite:./x'], 2, /move needs --to/],
  [
    'a location that is none is refused',
    ['--from', 'mysql://u:hush@h/d', '--to', 'sqlite:./x'],
    3,
    /^(?!.*hush).*--from must be/,
  ],
  ['options of the service are refused', ['--port', '1'], 2, /move takes no --port/],
  [
    'a source that does not exist is not made',
    ['--from', 'sqlite:./none', '--to', 'sqlite:./x'],
    4,
    /the data in sqlite:\.\/none cannot be opened: there is no store/,
  ],
]
for (const [rule, args, code, err] of REFUSED) {
  test(`move: ${rule}`, async () => {
    const ended = await runCommand(['move', ...args])
    assert.match(ended.err, err)
    assert.deepEqual([ended.code, ended.out, existsSync('./none')], [code, '', false])
  })
}

test('move: a source database without a store stays as it is', async (t) => {
  const [from, to] = [await place(t, 'postgres'), await place(t, 'sqlite')]
  const { code, out, err } = await move(from, to)
  assert.deepEqual([code, out], [4, ''])
  assert.match(err, /cannot be opened: there is no store/)
  const schemas = await rowsOf(from, (schema) => `select 1 from pg_namespace where nspname = '${schema}'`)
  assert.deepEqual(schemas, [])
})

test('serve: options of move are refused', async () => {
  const { code, err } = await runCommand(['--from', 'sqlite:./x'])
  assert.equal(code, 2)
  assert.match(err, /serve takes no --from/)
})

test('move: a database out of reach has an exit code of its own', async (t) => {
  const from = await place(t, 'sqlite')
  await using(from, async () => undefined)
  const { code, err } = await move(from, 'postgres://u:hush@127.0.0.1:1/d')
  assert.equal(code, 4)
  assert.match(err, /^(?!.*hush).*cannot be opened/)
})

/** Enough that a move can be met on its way. */
const MANY = 8_000

async function fillMuch(service: Service): Promise<void> {
  const fields = {
    _id: { type: 'string', constraints: { identity: true } },
    n: { type: 'integer' },
    s: { type: 'string' },
  }
  const info = {
    indexes: [
      { name: 'n', unique: true, fields: [{ field: 'n' }] },
      { name: 's', unique: false, fields: [{ field: 's' }] },
    ],
  }
  await service.metadata.create(
    ADMIN,
    { entity: 'many', version: '1.0.0' },
    metadataDocument('many', fields, { info }),
  )
  for (let from = 0; from < MANY; from += 2_000) {
    const data = Array.from({ length: 2_000 }, (_, i) => ({
      _id: `d${from + i}`,
      n: from + i,
      s: `s${i}`.repeat(20),
    }))
    const response = await service.data.insert(ADMIN, { entity: 'many' }, { data })
    assert.equal(response.status, 'COMPLETE')
  }
}

let much: Promise<Place> | undefined
after(async () => (await much)?.[Symbol.asyncDispose]())

/** A store of its own for a test: a copy of one that was filled once. */
async function placeOfMuch(t: TestContext): Promise<string> {
  much ??= freshPlace('sqlite').then(async (made) => {
    await using(made.location, fillMuch)
    return made
  })
  const copy = await place(t, 'sqlite')
  cpSync(directoryOf((await much).location), directoryOf(copy), { recursive: true })
  return copy
}

/** Waits until the first documents are in the target, or the move is over. */
async function untilBegun(to: string, child: ChildProcess): Promise<void> {
  while (child.exitCode === null && !(await isBegun(to))) await sleep(2)
}

async function isBegun(to: string): Promise<boolean> {
  if (to.startsWith('postgres')) {
    const tables = await rowsOf(
      to,
      (schema) => `select 1 from pg_tables where schemaname = '${schema}' and tablename = 'smalt_moving'`,
    )
    return tables.length > 0
  }
  const file = join(directoryOf(to), 'smalt.db')
  if (!existsSync(file)) return false
  using database = new DatabaseSync(file, { readOnly: true, timeout: 60_000 })
  return database.prepare(`select 1 from sqlite_master where name = 'smalt_moving'`).get() !== undefined
}

async function countOf(location: string): Promise<number> {
  return await using(location, async ({ data }) => {
    const body = { projection: { field: '_id' }, range: [0, 0] }
    return (await data.find(ADMIN, { entity: 'many' }, body)).matchCount
  })
}

async function checkRefused(from: string, to: string): Promise<void> {
  // The server of the tests does not flush, which a service warns about.
  const served = await start('--store', to, '--port', '0', '--log-level', 'error').ended
  assert.deepEqual([served.code, served.out], [4, ''])
  const again = await move(from, to)
  assert.equal(again.code, 6)
  assert.match(again.err, /has not finished; --restart/)
  const onward = await move(to, from)
  assert.equal(onward.code, 1)
  assert.match(onward.err, /has not finished/)
}

for (const kind of ['postgres', 'sqlite'] as const) {
  test(`move: killed on its way into ${kind}, the target says that it is incomplete`, async (t) => {
    const from = await placeOfMuch(t)
    let incomplete = 0
    for (const delayMs of [0, 60, 250]) {
      const to = await place(t, kind)
      const { child, ended } = start('move', '--from', from, '--to', to)
      await untilBegun(to, child)
      await sleep(delayMs)
      child.kill('SIGKILL')
      if ((await ended).code === 0) {
        assert.equal(await countOf(to), MANY)
        continue
      }
      await assert.rejects(openServiceAt(to), /holds a part of a move or restore that has not finished/)
      if (incomplete++ === 0) await checkRefused(from, to)
      const restarted = await move(from, to, '--restart', '--json')
      assert.equal(restarted.code, 0, restarted.err)
      assert.equal(await countOf(to), MANY)
    }
    assert.ok(incomplete > 0)
    const fresh = await place(t, kind)
    assert.equal((await moved(from, fresh))['documents'], MANY)
    assert.equal(await countOf(fresh), MANY)
  })

  test(`move: interrupted on its way into ${kind}, it leaves the target empty`, async (t) => {
    const [from, to] = [await placeOfMuch(t), await place(t, kind)]
    const { child, ended } = start('move', '--from', from, '--to', to)
    await untilBegun(to, child)
    child.kill('SIGINT')
    const { code, err } = await ended
    assert.equal(code, 130)
    assert.match(err, /nothing was moved/)
    assert.equal((await moved(from, to))['documents'], MANY)
  })
}

test('move: a source that changes meanwhile is a conflict, and the target stays empty', async (t) => {
  const [from, to] = [await place(t, 'postgres'), await place(t, 'sqlite')]
  await moved(await placeOfMuch(t), from)
  await using(from, async (service) => {
    const { child, ended } = start('move', '--from', from, '--to', to)
    await untilBegun(to, child)
    let n = MANY
    while (child.exitCode === null) {
      await service.data.insert(ADMIN, { entity: 'many' }, { data: { n: n++ } })
    }
    const { code, err } = await ended
    assert.equal(code, 6, err)
    assert.match(err, /the collection many of many changed in the source while it was moved/)
  })
  const store = await openStore(to)
  assert.equal(await store.transfer.obstacle(), undefined)
  await store[Symbol.asyncDispose]()
})

test('move: a database that goes away meanwhile is out of reach, and says that it is incomplete when it is back', async (t) => {
  await using server = await startPostgres()
  const from = await placeOfMuch(t)
  let killed: Promise<void> | undefined
  const onProgress = ({ done }: Progress): void => {
    if (done > 1_000) killed ??= server.kill('SIGINT')
  }
  const reasonOf = (more: object): Promise<string> =>
    runMove({ from, to: server.url, ...more }).then(
      () => 'moved',
      (error: MoveError) => error.reason,
    )
  assert.equal(await reasonOf({ onProgress }), 'unreachable')
  await killed
  await server.restart()
  assert.equal(await reasonOf({}), 'conflict')
  assert.equal(await reasonOf({ discardsIncomplete: true }), 'moved')
})

const TAMPERINGS: readonly [what: string, sql: string, message: RegExp][] = [
  ['a version', 'update doc_2 set version = version + 1 where no = 3', /^the collection thing of thing in/],
  ['a text', `update doc_3 set doc = doc || ' ' where no = 3`, /^the collection whole of whole in/],
  ['a document less', 'delete from doc_3 where no = 1', /^the collection whole of whole in/],
  ['an id', `update doc_3 set id = 'x' where no = 3`, /^the collection whole of whole in/],
  ['a sequence', `insert into smalt_sequence values ('s', 1, 1)`, /^the sequences in/],
  ['history', `insert into smalt_history values (null, 'e', '', '', '', null, null, null)`, /^the history/],
]

for (const [what, sql, message] of TAMPERINGS) {
  test(`move: what differs in the target is found: ${what}`, async (t) => {
    const [from, to] = [await place(t, 'sqlite'), await place(t, 'sqlite')]
    await using(from, fill)
    let isDone = false
    const onProgress = ({ phase, done }: Progress): void => {
      if (isDone || phase !== 'indexing' || done < 9) return
      isDone = true
      using target = new DatabaseSync(join(directoryOf(to), 'smalt.db'), { timeout: 60_000 })
      target.exec(sql)
    }
    await assert.rejects(runMove({ from, to, onProgress }), (error: MoveError) => {
      assert.match(error.message, message)
      return error.reason === 'failed'
    })
    assert.ok(isDone)
    assert.equal((await moved(from, to))['documents'], 22)
  })
}

test('progress: a terminal gets a bar, anything else a line now and then', () => {
  const shown = (isTTY: boolean): string => {
    let text = ''
    let now = 0
    const view = createProgress({ isTTY, write: (part: string) => (text += part) }, () => now)
    for (let done = 0; done <= 100; done += 10) {
      now += 600
      view.show({ phase: 'copying', done, total: 100 })
    }
    view.end()
    return text
  }
  const drawn = shown(true).split('\r\u001B[K')
  assert.equal(drawn[6], '[############------------] copying 50%, 50 of 100 documents, 17/s, 3 s left')
  assert.equal(drawn.at(-1), '')
  assert.equal(shown(false), 'smalt: copying 80%, 80 of 100 documents, 17/s, 2 s left\n')
})
