import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type Document, ObjectId, serialize } from 'bson'
import { Crc64 } from '../../../src/lightblue/dump/crc64.ts'
import { openDump } from '../../../src/lightblue/dump/dump-source.ts'
import { exportedTexts } from '../../../src/lightblue/dump/export-file.ts'
import { SourceError } from '../../../src/lightblue/source-error.ts'
import { type Collections, exportText, singleFileDump, writeDump } from '../../support/lightblue.ts'

const scratch = mkdtempSync(join(tmpdir(), 'smalt-dump-'))
after(() => rmSync(scratch, { recursive: true, force: true }))
let places = 0

function fresh(name = ''): string {
  const directory = join(scratch, String(++places))
  mkdirSync(directory)
  return join(directory, name)
}

function file(name: string, content: string | Uint8Array): string {
  const path = fresh(name)
  writeFileSync(path, content)
  return path
}

const MANY = Array.from({ length: 1_203 }, (_, i) => ({ _id: i, text: 'x'.repeat(i % 50) }))
const TWO: Collections = {
  a: [{ _id: new ObjectId('65a1b2c3d4e5f60718293a4b') }, { _id: 'b' }, { _id: 'c' }],
  b: MANY,
  none: [],
}

interface Content {
  /** Collection → documents, as the check counts them. */
  readonly counts: Readonly<Record<string, number>>
  /** Collection → number of documents that are read. */
  readonly read: Readonly<Record<string, number>>
}

async function contentOf(path: string, database?: string): Promise<Content> {
  const source = await openDump(path, { database, maxDepth: 64 })
  const found = await source.check(() => undefined)
  const read: Record<string, number> = {}
  for await (const { name, documents } of source.batches(() => true)) {
    assert.ok(documents.length <= 500)
    assert.ok(documents.every(({ kind }) => kind === 'read'))
    read[name] = (read[name] ?? 0) + documents.length
  }
  return { counts: Object.fromEntries(found.map(({ name, documents }) => [name, documents])), read }
}

const ALL: Content = { counts: { a: 3, b: 1_203, none: 0 }, read: { a: 3, b: 1_203 } }
/** An archive does not mention a collection without documents, except in its prelude. */
const ARCHIVED: Content = { counts: { a: 3, b: 1_203 }, read: { a: 3, b: 1_203 } }

const SOURCES: readonly (readonly [name: string, path: () => string, content: Content])[] = [
  ['a directory', () => writeDump(fresh(), TWO), ALL],
  ['a compressed directory', () => writeDump(fresh(), TWO, { gzip: true }), ALL],
  ['the directory of one database', () => join(writeDump(fresh(), TWO), 'lb'), ALL],
  ['an archive', () => file('all.archive', singleFileDump(TWO)), ARCHIVED],
  ['a compressed archive', () => file('all.archive.gz', gzipSync(singleFileDump(TWO))), ARCHIVED],
  [
    'one file of a directory',
    () => join(writeDump(fresh(), TWO), 'lb', 'b.bson'),
    { counts: { b: 1_203 }, read: { b: 1_203 } },
  ],
  ...(['lines', 'array', 'pretty'] as const).map(
    (form) =>
      [
        `an export as ${form}`,
        () => file('b.json', exportText(MANY, form, true)),
        { counts: { b: 1_203 }, read: { b: 1_203 } },
      ] as const,
  ),
  [
    'a compressed export',
    () => file('b.json.gz', gzipSync(exportText(MANY, 'lines', false))),
    { counts: { b: 1_203 }, read: { b: 1_203 } },
  ],
  ['an empty export', () => file('b.json', ''), { counts: { b: 0 }, read: {} }],
  ['an export of no documents', () => file('b.json', '\uFEFF[ ]'), { counts: { b: 0 }, read: {} }],
]

for (const [name, path, content] of SOURCES) {
  test(`dump: ${name} is read`, async () => assert.deepEqual(await contentOf(path()), content))
}

test('dump: --database selects the collections of one database', async () => {
  const directory = fresh()
  writeDump(directory, { a: [{ _id: 1 }] }, { database: 'one' })
  writeDump(directory, { a: [{ _id: 1 }, { _id: 2 }] }, { database: 'two' })
  assert.deepEqual((await contentOf(directory, 'two')).counts, { a: 2 })
  await assert.rejects(contentOf(directory, 'three'), /no database three/)
})

const WHOLE = Buffer.concat(MANY.map((each) => serialize(each)))
const ARCHIVE = singleFileDump(TWO)
const EXPORT = exportText(MANY, 'array', false)

const DAMAGED: readonly (readonly [
  name: string,
  file: string,
  content: string | Uint8Array,
  message: RegExp,
])[] = [
  [
    'a file that ends inside of a document',
    'b.bson',
    WHOLE.subarray(0, -1),
    /b\.bson is damaged at byte \d+: the file ends/,
  ],
  [
    'a file that ends inside of a size',
    'b.bson',
    Buffer.concat([WHOLE, Buffer.from([5, 0])]),
    /ends inside of a document/,
  ],
  [
    'a size that cannot be',
    'b.bson',
    Buffer.concat([WHOLE, Buffer.from('{"a":1}')]),
    /not the size of a BSON document/,
  ],
  ['a text that is no UTF-8', 'b.bson', withByte(serialize({ a: 'xyz' }), 12, 0xff), /not a BSON document/],
  [
    'a compressed file that ends too early',
    'b.bson.gz',
    gzipSync(WHOLE).subarray(0, -20),
    /damaged or incomplete/,
  ],
  ['a compressed file with other bytes', 'b.bson.gz', withByte(gzipSync(WHOLE), 300, 7), /damaged/],
  ['an archive without its end', 'x.archive', ARCHIVE.subarray(0, -4), /inside of a collection/],
  ['an archive without its last block', 'x.archive', ARCHIVE.subarray(0, ARCHIVE.length - 60), /damaged/],
  ['an archive cut in its header', 'x.archive', ARCHIVE.subarray(0, 60), /damaged/],
  [
    'an archive with another byte in a text',
    'x.archive',
    withByte(ARCHIVE, ARCHIVE.lastIndexOf('xxxx'), 0x79),
    /checksum of the collection b/,
  ],
  [
    'an export that ends inside of a document',
    'b.json',
    EXPORT.slice(0, -10),
    /b\.json is damaged at document 1203: the file ends/,
  ],
  [
    'an export without the end of its array',
    'b.json',
    EXPORT.trimEnd().slice(0, -1),
    /ends inside of the array/,
  ],
  ['an export with something else', 'b.json', '{"_id":1}\nx\n', /byte 10 is not the beginning of a document/],
  [
    'an export with a document that is no JSON',
    'b.json',
    '{"_id":1}\n{"_id":}\n',
    /damaged at document 2: it is not JSON/,
  ],
  [
    'an export that is no UTF-8',
    'b.json',
    Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    /not UTF-8/,
  ],
]

function withByte(bytes: Uint8Array, position: number, byte: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[position] = byte
  return copy
}

for (const [name, path, content, message] of DAMAGED) {
  test(`dump: ${name} is found before anything is loaded`, async () => {
    const damaged = file(path, content)
    await assert.rejects(contentOf(damaged), (error: unknown) => {
      assert.ok(error instanceof SourceError)
      assert.equal(error.reason, 'broken')
      assert.match(error.message, message)
      return true
    })
  })
}

const OTHERS: readonly (readonly [name: string, path: () => string, message: RegExp])[] = [
  ['a path that does not exist', () => join(scratch, 'nowhere'), /cannot be read/],
  ['an empty directory', () => fresh(), /no \.bson and no \.json files/],
  ['a file of another kind', () => file('x.txt', 'hello'), /not an archive of mongodump/],
]

for (const [name, path, message] of OTHERS) {
  test(`dump: ${name} is refused`, () =>
    assert.rejects(openDump(path(), { database: undefined, maxDepth: 64 }), message))
}

test('dump: a document with a value that JSON lacks concerns only itself', async () => {
  const source = await openDump(writeDump(fresh(), { a: [{ _id: 1 }, { _id: 2, v: NaN }] }), {
    database: undefined,
    maxDepth: 64,
  })
  assert.deepEqual(await source.check(() => undefined), [{ name: 'a', database: 'lb', documents: 2 }])
  const [batch] = await Array.fromAsync(source.batches(() => true))
  assert.deepEqual(
    batch!.documents.map(({ kind }) => kind),
    ['read', 'refused'],
  )
})

test('export: documents are found wherever a chunk ends', async () => {
  const documents: Document[] = [{ a: '}{"\\"][,' }, { b: [{ c: '\\' }, {}] }, {}, { 'k"{': 'ü€😀' }]
  for (const form of ['lines', 'array', 'pretty'] as const) {
    const bytes = Buffer.from(exportText(documents, form, true))
    for (const size of [1, 2, 3, 7, 1_000]) {
      const texts = await Array.fromAsync(exportedTexts('x.json', chunksOf(bytes, size)))
      assert.deepEqual(
        texts.map((text) => JSON.parse(text) as Document),
        documents,
      )
    }
  }
})

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size)
}

test('crc64: the check value of CRC-64/XZ', () => {
  const crc = new Crc64()
  crc.add(Buffer.from('12345'))
  crc.add(Buffer.from('6789'))
  assert.equal(BigInt.asUintN(64, crc.value()), 0x995dc9bbdf1939fan)
  assert.equal(new Crc64().value(), 0n)
})
