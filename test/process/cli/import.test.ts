import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { Binary, Decimal128, type Document, Long, ObjectId, serialize } from 'bson'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import type { ImportReport } from '../../../src/cli/import/report.ts'
import { type Ended, runCommand } from '../../support/command.ts'
import {
  exportText,
  lightblueMetadata,
  singleFileDump,
  writeDump,
  writeMetadata,
} from '../../support/lightblue.ts'
import { startTestServer } from '../../support/server.ts'
import { ADMIN, EVERYTHING, documentsOf, jsonObject, openServiceAt, textOf } from '../../support/service.ts'
import { type Place, freshPlace, onEveryStore } from '../../support/store-kind.ts'
import { PROGRAM } from '../../support/program.ts'

const scratch = mkdtempSync(join(tmpdir(), 'smalt-import-test-'))
after(() => rmSync(scratch, { recursive: true, force: true }))
let places = 0

function fresh(): string {
  const directory = join(scratch, String(++places))
  mkdirSync(directory)
  return directory
}

const AUTHOR = lightblueMetadata({
  entity: 'author',
  fields: { name: { type: 'string' } },
  info: { datastore: { backend: 'mongo', datasource: 'mongodata', collection: 'people' } },
})

const HOOK = {
  name: 'notificationHook',
  actions: ['insert', 'update'],
  configuration: { watchProjection: [{ field: '*', include: true, recursive: true }] },
}
const BOOK_INFO: JsonObject = {
  defaultVersion: '2.0.0',
  indexes: [{ name: 'isbn', unique: true, fields: [{ field: 'isbn', dir: '$asc' }] }],
  hooks: [HOOK],
}

/** Two versions: each has a field that the other lacks. */
const BOOK = ['1.0.0', '2.0.0'].map((version) =>
  lightblueMetadata({
    entity: 'book',
    version,
    info: BOOK_INFO,
    schema: { access: { find: ['anyone'], insert: ['noone'], update: ['noone'], delete: ['noone'] } },
    fields: {
      isbn: { type: 'string', constraints: { required: true } },
      ...(version === '1.0.0' ? { shelf: { type: 'string' } } : { pages: { type: 'integer' } }),
      number: {
        type: 'integer',
        valueGenerator: { type: 'IntSequence', configuration: { name: 'bookNumber' } },
      },
      price: { type: 'bigdecimal' },
      size: { type: 'biginteger' },
      weight: { type: 'double' },
      printed: { type: 'date' },
      changed: { type: 'date', valueGenerator: { type: 'CurrentTime', overwrite: true } },
      isNew: { type: 'boolean' },
      cover: { type: 'binary' },
      extra: { type: 'any' },
      tags: { type: 'array', items: { type: 'string' } },
      editions: {
        type: 'array',
        items: {
          type: 'object',
          fields: {
            year: { type: 'integer' },
            places: { type: 'array', items: { type: 'string' } },
            ...(version === '1.0.0' ? { note: { type: 'string' } } : {}),
          },
        },
      },
      authorId: { type: 'string' },
      author: {
        type: 'reference',
        entity: 'author',
        query: { field: '_id', op: '=', rfield: '$parent.authorId' },
      },
    },
  }),
)

const ID = '65a1b2c3d4e5f60718293a4b'

/** As Lightblue stores it. */
const STORED: Document = {
  _id: new ObjectId(ID),
  objectType: 'book',
  isbn: '1',
  shelf: 'A 3',
  pages: Long.fromNumber(412),
  number: Long.fromNumber(41),
  price: '12.50',
  size: '123456789012345678901234567890',
  weight: 0.25,
  printed: new Date('1965-08-01T00:00:00.000Z'),
  changed: new Date('2001-02-03T04:05:06.007Z'),
  isNew: false,
  cover: new Binary(Buffer.from([1, 2, 255])),
  extra: { any: [1, { thing: 'x' }], exact: Decimal128.fromString('1.10') },
  tags: ['a', 'b'],
  'tags#': 7,
  editions: [
    {
      year: Long.fromNumber(1965),
      places: ['x'],
      'places#': 1,
      note: 'first',
      '@mongoHidden': { year: 'X' },
    },
    null,
  ],
  'editions#': 2,
  authorId: 'h1',
  '@mongoHidden': { docver: [new ObjectId()], isbn: '1' },
}

/** The same, as Smalt stores it. */
const EXPECTED =
  `{"_id":"${ID}","objectType":"book","isbn":"1","pages":412,"number":41,"price":12.50,"size":123456789012345678901234567890,` +
  '"weight":0.25,"printed":"19650801T00:00:00.000+0000","changed":"20010203T04:05:06.007+0000","isNew":false,"cover":"AQL/",' +
  '"extra":{"any":[1,{"thing":"x"}],"exact":1.10},"tags":["a","b"],"editions":[{"year":1965,"places":["x"],"places#":1},null],' +
  '"authorId":"h1","tags#":2,"editions#":2}'

const PEOPLE: readonly Document[] = [{ _id: 'h1', objectType: 'author', name: 'Frank' }]
const SEQUENCES: readonly Document[] = [
  {
    _id: new ObjectId(),
    name: 'bookNumber',
    initialValue: Long.fromNumber(1),
    increment: Long.fromNumber(1),
    value: Long.fromNumber(77),
  },
]
const COLLECTIONS = { book: [STORED], people: PEOPLE, sequences: SEQUENCES, metadata: [{ _id: 'book|' }] }

const METADATA = writeMetadata(fresh(), [...BOOK, AUTHOR])

interface Imported extends Ended {
  readonly report: ImportReport
  readonly rejects: readonly JsonObject[]
}

async function runImport(location: string, ...args: readonly string[]): Promise<Ended> {
  return runCommand(['import', 'lightblue', '--store', location, ...args], { cwd: fresh() })
}

/** Runs the command with `--json`, and reads its report and its rejects. */
async function imported(location: string, ...args: readonly string[]): Promise<Imported> {
  const rejects = join(fresh(), 'rejects')
  const ended = await runImport(
    location,
    '--json',
    ...args,
    ...(args.includes('--data') ? ['--rejects', rejects] : []),
  )
  assert.ok(ended.code === 0 || ended.code === 7, ended.err)
  const lines = existsSync(rejects)
    ? readFileSync(rejects, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : []
  return { ...ended, report: JSON.parse(ended.out) as ImportReport, rejects: lines.map(jsonObject) }
}

/** All documents of an entity in one version, with every digit. */
async function stored(location: string, entity: string, version?: string): Promise<readonly JsonObject[]> {
  await using service = await openServiceAt(location)
  const target = { entity, ...(version !== undefined && { version }) }
  const body = { projection: EVERYTHING, sort: { _id: '$asc' } }
  const response = await service.data.find(ADMIN, target, body)
  assert.equal(response.status, 'COMPLETE')
  return documentsOf(response)
}

function without(document: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(document).filter(([name]) => !names.includes(name)))
}

function countsOf({ entities }: ImportReport, entity: string): Json {
  return { ...entities.find((each) => each.entity === entity)!.documents }
}

const ONE_NEW = { inserted: 1, updated: 0, unchanged: 0, rejected: 0 }

onEveryStore(() => {
  const SOURCES: Readonly<Record<string, () => string>> = {
    'a dump': () => writeDump(fresh(), COLLECTIONS),
    'a compressed dump': () => writeDump(fresh(), COLLECTIONS, { gzip: true }),
    'an archive': () => saved('lb.archive', singleFileDump(COLLECTIONS)),
    'a compressed archive': () => saved('lb.archive.gz', gzipSync(singleFileDump(COLLECTIONS))),
    'a canonical export': () => exported('lines', false),
    'a relaxed export': () => exported('array', true),
  }

  function saved(name: string, content: Uint8Array): string {
    const path = join(fresh(), name)
    writeFileSync(path, content)
    return path
  }

  function exported(form: 'lines' | 'array', isRelaxed: boolean): string {
    const directory = fresh()
    for (const [name, documents] of Object.entries(COLLECTIONS)) {
      writeFileSync(join(directory, `${name}.json`), exportText(documents, form, isRelaxed))
    }
    return directory
  }

  for (const [name, source] of Object.entries(SOURCES)) {
    test(`import: ${name}: every type arrives as it was, and a second run changes nothing`, async () => {
      await using place = await freshPlace()
      const args = ['--metadata', METADATA, '--data', source()]
      const first = await imported(place.location, ...args)
      assert.equal(first.code, 0)
      assert.deepEqual(first.rejects, [])
      assert.deepEqual(countsOf(first.report, 'book'), ONE_NEW)
      assert.deepEqual(countsOf(first.report, 'author'), ONE_NEW)
      assert.equal(first.report.sequences, 1)
      assert.deepEqual(first.report.skipped, [{ collection: 'metadata', documents: 1 }])
      const [book] = await stored(place.location, 'book')
      assert.deepEqual(book, parseTrusted(EXPECTED))
      const second = await imported(place.location, ...args)
      assert.deepEqual(countsOf(second.report, 'book'), { ...ONE_NEW, inserted: 0, unchanged: 1 })
      assert.deepEqual(await stored(place.location, 'book'), [book])
    })
  }

  test('import: a document keeps the members of all versions', async () => {
    await using place = await freshPlace()
    await imported(place.location, '--metadata', METADATA, '--data', writeDump(fresh(), COLLECTIONS))
    const [older] = await stored(place.location, 'book', '1.0.0')
    assert.equal(older!['shelf'], 'A 3')
    assert.deepEqual(older!['editions'], [{ year: 1965, places: ['x'], 'places#': 1, note: 'first' }, null])
  })

  test('import: sequences go on, no events are created, and metadata history names the import', async () => {
    await using place = await freshPlace()
    await imported(place.location, '--metadata', METADATA, '--data', writeDump(fresh(), COLLECTIONS))
    await using service = await openServiceAt(place.location)
    const generated = await service.data.generate(ADMIN, { entity: 'book' }, 'number', '1')
    assert.deepEqual(generated.processed, ['77'])
    const { events } = await service.events.read(ADMIN, new URLSearchParams())
    assert.deepEqual(events, [])
    const [record] = (await service.metadata.history(ADMIN, 'book')) as readonly JsonObject[]
    assert.equal(record!['principal'], 'import')
  })

  test('import: without the collection of sequences they go on after the greatest value', async () => {
    await using place = await freshPlace()
    await imported(place.location, '--metadata', METADATA, '--data', writeDump(fresh(), { book: [STORED] }))
    await using service = await openServiceAt(place.location)
    const generated = await service.data.generate(ADMIN, { entity: 'book' }, 'number', '1')
    assert.deepEqual(generated.processed, ['42'])
  })

  test('import: numbers that a sequence can never reach are loaded, and do not raise it', async () => {
    await using place = await freshPlace()
    const configuration = (increment: number) => ({ name: `by ${increment}`, increment })
    const numbered = lightblueMetadata({
      entity: 'author',
      fields: {
        up: { type: 'string', valueGenerator: { type: 'IntSequence', configuration: configuration(10) } },
        down: {
          type: 'biginteger',
          valueGenerator: { type: 'IntSequence', configuration: configuration(-1) },
        },
      },
      info: { datastore: { backend: 'mongo', datasource: 'mongodata', collection: 'people' } },
    })
    const ups = ['9999999999999999999', '9223372036854775807', '9223372036854775798', '41']
    const downs = ['-9223372036854775809', '-9223372036854775808', '-9999999999999999999', '-6']
    const people = ups.map((up, i) => ({ _id: `${i}`, objectType: 'author', up, down: downs[i]! }))
    const sequences = [{ _id: 's', name: 'by 10', increment: 10, value: '9999999999999999999' }]
    const data = writeDump(fresh(), { people, sequences })
    const { code, report } = await imported(
      place.location,
      '--metadata',
      writeMetadata(fresh(), [numbered]),
      '--data',
      data,
    )
    assert.equal(code, 0)
    assert.deepEqual(countsOf(report, 'author'), { ...ONE_NEW, inserted: 4 })
    await using service = await openServiceAt(place.location)
    const next = async (field: string) =>
      (await service.data.generate(ADMIN, { entity: 'author' }, field, '1')).processed
    assert.deepEqual([await next('up'), await next('down')], [['"51"'], ['-7']])
  })

  test('import: documents that break a rule are rejected, with their errors, and the others are loaded', async () => {
    await using place = await freshPlace()
    const books: readonly Document[] = [
      STORED,
      { _id: 'b2', objectType: 'book', isbn: '1' },
      { _id: 'b3', objectType: 'book' },
      { _id: 'b4', objectType: 'book', isbn: '4', pages: 'many' },
      { _id: 'b5', objectType: 'book', isbn: '5', unheard: { of: 1 } },
      { _id: 'b6', objectType: 'book', isbn: '6', price: NaN },
      { _id: 'b7', objectType: 'magazine', isbn: '7' },
      { objectType: 'book', isbn: '8' },
      { _id: 'b9', objectType: 'book', isbn: '9' },
    ]
    const { code, report, rejects } = await imported(
      place.location,
      '--metadata',
      METADATA,
      '--data',
      writeDump(fresh(), { book: books }),
    )
    assert.equal(code, 7)
    assert.deepEqual(countsOf(report, 'book'), { inserted: 2, updated: 0, unchanged: 0, rejected: 7 })
    const errors = Object.fromEntries(
      rejects.map(({ document, errors: list }) => {
        const { _id = 'none' } = document as JsonObject
        return [
          _id,
          (list as readonly JsonObject[]).map(
            ({ errorCode, context }) => `${textOf(errorCode)} ${textOf(context)}`,
          ),
        ]
      }),
    )
    assert.deepEqual(errors, {
      b2: ['store-crud:Duplicate '],
      b3: ['crud:Required isbn'],
      b4: ['metadata:IncompatibleValue pages'],
      b5: ['metadata:InvalidFieldReference unheard'],
      b6: ['metadata:IncompatibleValue price'],
      b7: ['crud:InvalidEntity objectType'],
      none: ['crud:Required _id'],
    })
    assert.deepEqual(
      (await stored(place.location, 'book')).map(({ _id }) => _id),
      [ID, 'b9'],
    )
  })

  test('import: a value must fit its field in some version', async () => {
    await using place = await freshPlace()
    const types: readonly JsonObject[] = [
      { type: 'integer' },
      { type: 'object', fields: { a: { type: 'string' } } },
    ]
    const metadata = types.map((x, i) => {
      const info = { defaultVersion: '2.0.0' }
      return lightblueMetadata({
        entity: 'thing',
        version: `${i + 1}.0.0`,
        fields: { x, list: { type: 'array', items: x } },
        info,
      })
    })
    const thing: readonly Document[] = [
      { _id: 'a', x: Long.fromNumber(5), list: [1] },
      { _id: 'b', x: { a: 'b' } },
      { _id: 'c', x: 'text' },
      { _id: 'd', list: [1, 'text'] },
      { _id: 'e', x: { c: 1 } },
      // one array of both versions
      { _id: 'f', list: [1, { a: 'b' }] },
    ]
    const args = ['--metadata', writeMetadata(fresh(), metadata), '--data', writeDump(fresh(), { thing })]
    const { rejects } = await imported(place.location, ...args)
    assert.deepEqual(
      rejects.map(({ document }) => (document as JsonObject)['_id']),
      ['c', 'd', 'e', 'f'],
    )
    assert.deepEqual(await stored(place.location, 'thing', '1.0.0'), [
      { _id: 'a', objectType: 'thing', x: 5, list: [1], 'list#': 1 },
      { _id: 'b', objectType: 'thing', 'list#': 0 },
    ])
  })

  test('import: --drop-unknown leaves out members that no version defines, and counts them', async () => {
    await using place = await freshPlace()
    const book = {
      _id: 'b',
      objectType: 'book',
      isbn: '5',
      unheard: 1,
      editions: [{ year: 1, of: 2 }, { of: 3 }],
    }
    const { code, report } = await imported(
      place.location,
      '--metadata',
      METADATA,
      '--data',
      writeDump(fresh(), { book: [book] }),
      '--drop-unknown',
    )
    assert.equal(code, 0)
    assert.deepEqual(report.entities.find(({ entity }) => entity === 'book')!.dropped, {
      unheard: 1,
      'editions.*.of': 2,
    })
    const [found] = await stored(place.location, 'book')
    assert.deepEqual(found, {
      _id: 'b',
      objectType: 'book',
      isbn: '5',
      'tags#': 0,
      editions: [{ year: 1, 'places#': 0 }, { 'places#': 0 }],
      'editions#': 2,
    })
  })

  test('import: a later dump updates what has changed', async () => {
    await using place = await freshPlace()
    await imported(place.location, '--metadata', METADATA, '--data', writeDump(fresh(), COLLECTIONS))
    const changed = {
      book: [
        { ...STORED, isbn: '2', pages: Long.fromNumber(5) },
        { ...STORED, _id: 'x', isbn: '1' },
      ],
    }
    const { report } = await imported(place.location, '--data', writeDump(fresh(), changed))
    assert.deepEqual(countsOf(report, 'book'), { inserted: 1, updated: 1, unchanged: 0, rejected: 0 })
    assert.deepEqual(
      (await stored(place.location, 'book')).map(({ _id, isbn, pages }) => [_id, isbn, pages]),
      [
        [ID, '2', 5],
        ['x', '1', 412],
      ],
    )
  })

  test('import: a damaged dump is an error, and nothing is written, not even metadata', async () => {
    await using place = await freshPlace()
    const directory = writeDump(fresh(), COLLECTIONS)
    const path = join(directory, 'lb', 'people.bson')
    writeFileSync(path, readFileSync(path).subarray(0, -3))
    const { code, err } = await runImport(place.location, '--metadata', METADATA, '--data', directory)
    assert.equal(code, 1)
    assert.match(err, /people\.bson is damaged at byte 0: the file ends inside of a document/)
    await using service = await openServiceAt(place.location)
    assert.deepEqual(service.metadata.names(ADMIN, undefined), { entities: ['savedSearch'] })
  })

  test('import: from a running service, in pages, all versions put together', async () => {
    await using source = await startTestServer()
    await using place = await freshPlace()
    const data = Array.from({ length: 1_234 }, (_, i) => ({ _id: `b${i}`, old: i, both: [{ x: i }] }))
    const define = async (version: string, fields: JsonObject): Promise<void> => {
      const document = lightblueMetadata({
        entity: 'thing',
        version,
        fields,
        info: { datastore: { backend: 'sqlite' } },
      })
      const backend = source.location.startsWith('sqlite') ? 'sqlite' : 'postgres'
      const info = { ...(document['entityInfo'] as JsonObject), datastore: { backend } }
      const { status, text } = await source.ask('PUT', `/metadata/thing/${version}`, {
        body: { ...document, entityInfo: info },
      })
      assert.equal(status, 200, text)
    }
    const both = (more: JsonObject): JsonObject => ({
      type: 'array',
      items: { type: 'object', fields: { x: { type: 'integer' }, ...more } },
    })
    await define('1.0.0', { old: { type: 'integer' }, both: both({}) })
    await define('2.0.0', { new: { type: 'string' }, both: both({ y: { type: 'string' } }) })
    await source.ask('PUT', '/data/insert/thing/1.0.0', { body: { data } })
    const update = { $foreach: { both: '$all', $update: { $set: { y: 'z' } } } }
    await source.ask('POST', '/data/update/thing/2.0.0', {
      body: { query: { field: '_id', op: '=', rvalue: 'b7' }, update: [{ $set: { new: 'n' } }, update] },
    })
    const address = `http://127.0.0.1:${source.port}`
    const args = ['--metadata', `${address}/rest/metadata`, '--data', `${address}/rest/data`]
    const { report } = await imported(place.location, ...args)
    assert.deepEqual(countsOf(report, 'thing'), { inserted: 1_234, updated: 0, unchanged: 0, rejected: 0 })
    const [older, newer] = [
      await stored(place.location, 'thing', '1.0.0'),
      await stored(place.location, 'thing', '2.0.0'),
    ]
    assert.equal(older.length, 1_234)
    assert.deepEqual(
      without(
        older.find(({ _id }) => _id === 'b7')!,
        'objectType',
      ),
      { _id: 'b7', old: 7, both: [{ x: 7 }], 'both#': 1 },
    )
    assert.deepEqual(newer.find(({ _id }) => _id === 'b7')!['both'], [{ x: 7, y: 'z' }])
    const again = await imported(place.location, ...args)
    assert.deepEqual(countsOf(again.report, 'thing'), {
      inserted: 0,
      updated: 0,
      unchanged: 1_234,
      rejected: 0,
    })
  })

  test('import: killed and started again, it ends as if it had not been', { timeout: 300_000 }, async () => {
    const books = Array.from({ length: 10_000 }, (_, i) => ({
      _id: ObjectId.createFromHexString(i.toString(16).padStart(24, '0')),
      objectType: 'book',
      // one in every batch is rejected, which shows that the import is under way
      ...(i % 500 === 0 ? {} : { isbn: String(i) }),
      number: Long.fromNumber(i),
    }))
    const dump = writeDump(fresh(), { book: books })
    await using whole = await freshPlace()
    await using killed = await freshPlace()
    const args = ['--metadata', METADATA, '--data', dump]
    const reference = await imported(whole.location, ...args)
    assert.equal(reference.rejects.length, 20)
    for (const rejects of [3, 9]) await killedAfter(rejects, killed, args)
    const last = await imported(killed.location, ...args)
    assert.deepEqual(last.rejects, reference.rejects)
    const { inserted, unchanged } = countsOf(last.report, 'book') as { inserted: number; unchanged: number }
    assert.equal(inserted + unchanged, 9_980)
    assert.ok(unchanged > 0, 'the killed runs stored something')
    assert.deepEqual(await stored(killed.location, 'book'), await stored(whole.location, 'book'))
    await using service = await openServiceAt(killed.location)
    const generated = await service.data.generate(ADMIN, { entity: 'book' }, 'number', '1')
    assert.deepEqual(generated.processed, ['10000'])
  })
})

test('import: memory use does not depend on the size of the dump', { timeout: 300_000 }, async () => {
  await using place = await freshPlace('sqlite')
  const directory = join(fresh(), 'lb')
  mkdirSync(directory)
  // 80 MB of documents, in a heap of 56 MB
  const file = openSync(join(directory, 'book.bson'), 'w')
  const authorId = 'x'.repeat(8_000)
  for (let i = 0; i < 10_000; i++) {
    writeSync(file, serialize({ _id: String(i), objectType: 'book', isbn: String(i), authorId }))
  }
  closeSync(file)
  const args = ['import', 'lightblue', '--store', place.location, '--metadata', METADATA, '--data', directory]
  const { child, ended } = start(args, { heap: 56 })
  await ended
  assert.equal(child.exitCode, 0)
})

interface StartOptions {
  /** Megabytes. */
  readonly heap?: number
}

/** A process of its own, in a directory of its own. */
function start(args: readonly string[], { heap }: StartOptions = {}) {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SMALT_'))
  const flags = heap === undefined ? [] : [`--max-old-space-size=${heap}`]
  const child = spawn(process.execPath, [...flags, PROGRAM, ...args], {
    cwd: fresh(),
    env: Object.fromEntries(inherited),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  // progress is not part of the report of the tests
  child.stderr.resume()
  return { child, ended: once(child, 'close') }
}

/** Kills the process when so many documents have been rejected. */
async function killedAfter(rejects: number, { location }: Place, args: readonly string[]): Promise<void> {
  const path = join(fresh(), 'rejects')
  const { child, ended } = start(['import', 'lightblue', '--store', location, '--rejects', path, ...args])
  const isFar = (): boolean => existsSync(path) && readFileSync(path, 'utf8').split('\n').length > rejects
  while (!isFar() && child.exitCode === null) await sleep(5)
  assert.equal(child.exitCode, null, 'it is still running')
  child.kill('SIGKILL')
  await ended
}

test('import: --dry-run finds the same, and writes nothing but the rejects', async () => {
  const directory = join(fresh(), 'data')
  const books = [STORED, { ...STORED, _id: 'again' }, { _id: 'b3', objectType: 'book' }]
  const args = ['--metadata', METADATA, '--data', writeDump(fresh(), { ...COLLECTIONS, book: books })]
  const temporary = new Set(temporaryStores())
  const dry = await imported(`sqlite:${directory}`, ...args, '--dry-run')
  assert.ok(!existsSync(directory))
  assert.deepEqual(new Set(temporaryStores()), temporary)
  const { seconds: _, isDryRun, ...report } = (await imported(`sqlite:${directory}`, ...args)).report
  assert.deepEqual(
    { ...dry.report, seconds: 0 },
    { ...report, rejects: dry.report.rejects, isDryRun: true, seconds: 0 },
  )
  assert.equal(isDryRun, false)
  assert.equal(dry.rejects.length, 2)
})

test('import: a file of rejects is written anew, and any other file is left as it is', async () => {
  await using place = await freshPlace('sqlite')
  const path = join(fresh(), 'notes')
  writeFileSync(path, 'something else')
  const data = writeDump(fresh(), { book: [STORED, { _id: 'b3', objectType: 'book' }] })
  const args = ['--metadata', METADATA, '--data', data, '--rejects', path, '--dry-run']
  const refused = await runImport(place.location, ...args)
  assert.equal(refused.code, 6, refused.err)
  assert.match(refused.err, /notes exists, and is not a file of rejects/)
  assert.equal(readFileSync(path, 'utf8'), 'something else')
  writeFileSync(path, '')
  for (const run of [1, 2]) {
    assert.equal((await runImport(place.location, ...args)).code, 7)
    assert.equal(readFileSync(path, 'utf8').trim().split('\n').length, 1, `run ${run}`)
  }
})

function temporaryStores(): readonly string[] {
  return readdirSync(tmpdir()).filter((name) => /^smalt-import-(?!test)/.test(name))
}

test('import: --dry-run knows the metadata that the store has', async () => {
  await using place = await freshPlace('sqlite')
  await imported(place.location, '--metadata', METADATA)
  const args = ['--data', writeDump(fresh(), COLLECTIONS), '--dry-run']
  assert.deepEqual(countsOf((await imported(place.location, ...args)).report, 'book'), ONE_NEW)
  assert.deepEqual(await stored(place.location, 'book'), [])
})

test('import: the report is for people, with what was rewritten and what to do', async () => {
  await using place = await freshPlace('sqlite')
  const { code, out } = await runImport(
    place.location,
    '--metadata',
    METADATA,
    '--data',
    writeDump(fresh(), { book: [STORED], other: [{ _id: 1 }] }),
  )
  assert.equal(code, 0)
  for (const line of [
    /^ {2}book 1\.0\.0, 2\.0\.0: 1 new document, 2 indexes, 1 hook$/m,
    /^Rewritten:\n {2}author: its documents are stored in the datasource default, collection people$/m,
    /^ {2}author: the source has no collection people, so no documents were imported; if it has documents, check --data$/m,
    /^ {2}book: its hooks \(notificationHook\) create events; .*; read the events with GET \/events, or define a sink$/m,
    /^Collections without an entity, not imported:\n {2}other: 1 document$/m,
    /^imported 2 entities, 3 versions, 1 document, 1 sequence into sqlite:.* in [\d.]+ s\n$/m,
  ])
    assert.match(out, line)
})

test('import: entities that refer to each other are loaded together', async () => {
  await using place = await freshPlace('sqlite')
  const reference = (entity: string): JsonObject => ({
    to: { type: 'string' },
    found: { type: 'reference', entity, query: { field: '_id', op: '=', rfield: '$parent.to' } },
  })
  const metadata = writeMetadata(fresh(), [
    lightblueMetadata({ entity: 'cat', fields: reference('dog') }),
    lightblueMetadata({ entity: 'dog', fields: reference('cat') }),
  ])
  const data = { cat: [{ _id: 'c', to: 'd' }], dog: [{ _id: 'd', to: 'c' }] }
  const { report } = await imported(
    place.location,
    '--metadata',
    metadata,
    '--data',
    writeDump(fresh(), data),
  )
  assert.doesNotMatch(JSON.stringify(report.notes), /undefined-reference/)
  await using service = await openServiceAt(place.location)
  const body = { projection: [EVERYTHING, { field: 'found.*._id' }] }
  const [cat] = documentsOf(await service.data.find(ADMIN, { entity: 'cat' }, body))
  assert.deepEqual(cat!['found'], [{ _id: 'd', to: 'c', objectType: 'dog' }])
})

test('import: entities that share a collection are told apart by objectType', async () => {
  await using place = await freshPlace('sqlite')
  const info = { datastore: { backend: 'mongo', collection: 'shared' } }
  const metadata = writeMetadata(
    fresh(),
    ['cat', 'dog'].map((entity) => lightblueMetadata({ entity, fields: {}, info })),
  )
  const shared = [
    { _id: 1, objectType: 'cat' },
    { _id: 2, objectType: 'dog' },
    { _id: 3, objectType: 'cow' },
    { _id: 4 },
  ]
  const { rejects } = await imported(
    place.location,
    '--metadata',
    metadata,
    '--data',
    writeDump(fresh(), { shared }),
  )
  assert.deepEqual(
    rejects.map(({ document }) => (document as JsonObject)['_id']),
    [3, 4],
  )
  assert.deepEqual(await stored(place.location, 'cat'), [{ _id: '1', objectType: 'cat' }])
  assert.deepEqual(await stored(place.location, 'dog'), [{ _id: '2', objectType: 'dog' }])
})

test('import: a collection in two databases is refused until one is chosen', async () => {
  await using place = await freshPlace('sqlite')
  const dump = fresh()
  for (const database of ['live', 'old']) writeDump(dump, { people: PEOPLE }, { database })
  const args = ['--metadata', METADATA, '--data', dump]
  const { code, err } = await runImport(place.location, ...args)
  assert.equal(code, 1)
  assert.match(err, /people is in several databases \(live, old\); choose one of them with --database/)
  const { report } = await imported(place.location, ...args, '--database', 'live')
  assert.deepEqual(countsOf(report, 'author'), ONE_NEW)
})

test('import: metadata that is refused is listed, and no documents are loaded', async () => {
  await using place = await freshPlace('sqlite')
  const unfit = ['a', 'b'].map((entity) => lightblueMetadata({ entity, fields: { x: { type: 'nothing' } } }))
  const metadata = writeMetadata(fresh(), [...unfit, AUTHOR])
  const { code, err } = await runImport(
    place.location,
    '--metadata',
    metadata,
    '--data',
    writeDump(fresh(), COLLECTIONS),
  )
  assert.equal(code, 1)
  assert.match(err, /refused, so no documents were loaded:\n {2}a: .*nothing.*\n {2}b: .*nothing/)
  assert.deepEqual(await stored(place.location, 'author'), [])
})

/** Speaks Lightblue's data routes for one entity, and fails at one of its pages. */
async function startLightblue(
  count: number,
  options: { failsAt?: number; maxPage?: number; hasNumber?: boolean } = {},
) {
  const asked: number[] = []
  const state = { ...options }
  const server = createServer((request, response) => {
    void (async () => {
      const body = jsonObject((await request.toArray()).join(''))
      const { from, to } = body as { from: number; to: number }
      asked.push(from)
      const isTooLarge = to - from + 1 > (state.maxPage ?? Infinity)
      const page = Array.from({ length: Math.max(0, Math.min(to + 1, count) - from) }, (_, i) => ({
        _id: String(from + i).padStart(5, '0'),
        objectType: 'author',
        name: request.headers.authorization ?? null,
        ...(from + i === 10 && count > 1_000 ? { unheard: true } : {}),
        ...(from + i === 3 && state.hasNumber ? { number: 9_000 } : {}),
        // no sequence can go on after it
        ...(from + i === 4 && state.hasNumber ? { number: '9223372036854775807' } : {}),
      }))
      const error = {
        objectType: 'error',
        errorCode: isTooLarge ? 'crud:ResultSizeTooLarge' : 'crud:NoAccess',
        msg: 'no',
        context: '',
      }
      const isRefused = isTooLarge || (state.failsAt !== undefined && from >= state.failsAt)
      const answer = {
        status: isRefused ? 'ERROR' : 'COMPLETE',
        matchCount: count,
        modifiedCount: 0,
        processed: page,
      }
      response.end(JSON.stringify(isRefused ? { ...answer, processed: [], errors: [error] } : answer))
    })()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    state,
    asked,
    address: `http://user:pass%20word@127.0.0.1:${(server.address() as AddressInfo).port}/rest/data`,
    [Symbol.dispose]: () => void server.close(),
  }
}

test('import: --resume goes on where a failed run stopped', async () => {
  await using place = await freshPlace('sqlite')
  using lightblue = await startLightblue(1_600, { failsAt: 1_000 })
  const [resume, rejects] = [join(fresh(), 'position'), join(fresh(), 'rejects')]
  const args = [
    '--metadata',
    writeMetadata(fresh(), [AUTHOR]),
    '--data',
    lightblue.address,
    '--resume',
    resume,
    '--rejects',
    rejects,
  ]
  const failed = await runImport(place.location, ...args)
  assert.equal(failed.code, 5)
  assert.match(failed.err, /author 1\.0\.0 cannot be read: no \(crud:NoAccess\)/)
  assert.ok(!readFileSync(resume, 'utf8').includes('pass'), 'no password is kept')
  assert.equal(readFileSync(rejects, 'utf8').split('\n').length, 2)
  delete lightblue.state.failsAt
  lightblue.asked.length = 0
  const { code, out } = await runImport(place.location, ...args, '--json')
  assert.equal(code, 7, 'the rejects of the first run count')
  const report = JSON.parse(out) as ImportReport
  assert.match(readFileSync(rejects, 'utf8'), /^\{[^\n]*"unheard"[^\n]*\}\n$/)
  assert.deepEqual(lightblue.asked, [0, 1_000, 1_500])
  assert.deepEqual(countsOf(report, 'author'), { ...ONE_NEW, inserted: 600 })
  assert.ok(!existsSync(resume))
  const authors = await stored(place.location, 'author')
  assert.equal(authors.length, 1_599)
  assert.equal(authors[0]!['name'], `Basic ${btoa('user:pass word')}`)
})

test('import: sequences go on after the values that a resumed run does not read again', async () => {
  await using place = await freshPlace('sqlite')
  using lightblue = await startLightblue(1_000, { failsAt: 500, hasNumber: true })
  const valueGenerator = { type: 'IntSequence', configuration: { name: 'authorNumber' } }
  const numbered = lightblueMetadata({
    entity: 'author',
    fields: { name: { type: 'string' }, number: { type: 'integer', valueGenerator } },
  })
  const metadata = writeMetadata(fresh(), [numbered])
  const args = ['--metadata', metadata, '--data', lightblue.address, '--resume', join(fresh(), 'position')]
  assert.equal((await runImport(place.location, ...args)).code, 5)
  delete lightblue.state.failsAt
  assert.equal((await runImport(place.location, ...args)).code, 0)
  await using service = await openServiceAt(place.location)
  const generated = await service.data.generate(ADMIN, { entity: 'author' }, 'number', '1')
  assert.deepEqual(generated.processed, ['9001'])
})

test('import: LIGHTBLUE_AUTHORIZATION is sent as it is', async () => {
  await using place = await freshPlace('sqlite')
  using lightblue = await startLightblue(1)
  const url = new URL(lightblue.address)
  const address = `${url.origin}${url.pathname}`
  const args = ['--metadata', writeMetadata(fresh(), [AUTHOR]), '--data', address]
  const environment = { LIGHTBLUE_AUTHORIZATION: 'Bearer abc' }
  const ended = await runCommand(['import', 'lightblue', '--store', place.location, ...args], {
    cwd: fresh(),
    environment,
  })
  assert.equal(ended.code, 0, ended.err)
  assert.equal((await stored(place.location, 'author'))[0]!['name'], 'Bearer abc')
})

test('import: an entity whose versions are all disabled is not read by REST, and the report says so', async () => {
  await using place = await freshPlace('sqlite')
  using lightblue = await startLightblue(1)
  const off = lightblueMetadata({
    entity: 'off',
    fields: {},
    schema: { status: { value: 'disabled' } },
    info: { defaultVersion: null },
  })
  const args = ['--metadata', writeMetadata(fresh(), [AUTHOR, off]), '--data', lightblue.address]
  const { report } = await imported(place.location, ...args)
  assert.match(JSON.stringify(report.notes), /"entity":"off","what":"all its versions are disabled/)
})

test('import: a page that is too large is asked for in smaller ones', async () => {
  await using place = await freshPlace('sqlite')
  using lightblue = await startLightblue(300, { maxPage: 70 })
  const args = ['--metadata', writeMetadata(fresh(), [AUTHOR]), '--data', lightblue.address]
  const { report } = await imported(place.location, ...args)
  assert.deepEqual(countsOf(report, 'author'), { ...ONE_NEW, inserted: 300 })
})

const USES: readonly (readonly [name: string, args: readonly string[], code: number, err: RegExp])[] = [
  ['nothing to import', [], 2, /needs --metadata, --data or both/],
  ['a path that does not exist', ['--data', '/nowhere'], 1, /\/nowhere cannot be read/],
  ['metadata that does not exist', ['--metadata', '/nowhere'], 1, /\/nowhere cannot be read/],
  [
    'nobody at the address',
    ['--metadata', 'http://127.0.0.1:1/rest/metadata'],
    4,
    /127\.0\.0\.1:1\/rest\/metadata does not answer/,
  ],
  ['--resume with a path', ['--data', '/x', '--resume', 'f'], 2, /--resume is only for an address as --data/],
  [
    '--database with an address',
    ['--data', 'http://x', '--database', 'd'],
    2,
    /--database is only for a dump/,
  ],
  [
    '--drop-unknown without documents',
    ['--metadata', '/x', '--drop-unknown'],
    2,
    /--drop-unknown is only for/,
  ],
  ['--cert with a path', ['--data', '/x', '--cert', 'c', '--key', 'k'], 2, /--cert is only for an address/],
  ['--cert alone', ['--data', 'https://x', '--cert', 'c'], 2, /--cert and --key need each other/],
  [
    'a key that does not exist',
    ['--data', 'https://x', '--cert', '/no', '--key', '/no'],
    3,
    /--cert cannot be read/,
  ],
  ['an option of another command', ['--data', '/x', '--from', 'y'], 2, /import takes no --from/],
]

for (const [name, args, code, err] of USES) {
  test(`import: ${name} ends with ${code}`, async () => {
    const ended = await runImport(`sqlite:${join(fresh(), 'data')}`, ...args)
    assert.equal(ended.code, code, ended.err)
    assert.match(ended.err, err)
    assert.equal(ended.out, '')
  })
}

test('import: a store that cannot be reached ends with 4', async () => {
  const { code, err } = await runImport('postgres://nobody@127.0.0.1:1/none', '--metadata', METADATA)
  assert.equal(code, 4, err)
})

test('import: another system than Lightblue is refused with a suggestion', async () => {
  const { code, err } = await runCommand(['import', 'lightbule', '--data', '/x'])
  assert.equal(code, 2)
  assert.match(err, /import takes files, or lightblue; did you mean lightblue\?/)
})

test('import: a store that a service uses is refused with 6', async () => {
  await using place = await freshPlace('sqlite')
  await using server = await startTestServer({ location: place.location })
  const { code, err } = await runImport(server.location, '--metadata', METADATA)
  assert.equal(code, 6, err)
  assert.match(err, /in use by another Smalt process; end it first/)
})
