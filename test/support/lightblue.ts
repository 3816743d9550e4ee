/** Makes what an installation of Lightblue leaves behind: metadata files, dumps and exports of its database. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type Document, EJSON, Long, serialize } from 'bson'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { Crc64 } from '../../src/lightblue/dump/crc64.ts'
import { ANYONE } from './service.ts'

/** Collection → documents. */
export type Collections = Readonly<Record<string, readonly Document[]>>

export interface LightblueEntity {
  readonly entity: string
  readonly version?: string
  readonly fields: JsonObject
  readonly info?: JsonObject
  readonly schema?: JsonObject
}

/** A metadata document as Lightblue returns it. */
export function lightblueMetadata({
  entity,
  version = '1.0.0',
  fields,
  info,
  schema,
}: LightblueEntity): JsonObject {
  return {
    entityInfo: {
      name: entity,
      defaultVersion: version,
      indexes: [
        { name: null, unique: true, fields: [{ field: '_id', dir: '$asc', caseInsensitive: false }] },
      ],
      datastore: { datasource: 'mongodata', collection: entity, backend: 'mongo' },
      _id: `${entity}|`,
      ...info,
    },
    schema: {
      name: entity,
      version: { value: version, changelog: 'made for a test' },
      status: { value: 'active' },
      access: ANYONE,
      fields: {
        _id: { type: 'string', description: null },
        objectType: { type: 'string', description: null },
        ...fields,
      },
      _id: `${entity}|${version}`,
      ...schema,
    },
  }
}

export function writeMetadata(directory: string, documents: readonly Json[]): string {
  mkdirSync(directory, { recursive: true })
  for (const [i, document] of documents.entries()) {
    writeFileSync(join(directory, `${i}.json`), JSON.stringify(document, undefined, 2))
  }
  return directory
}

/** As `mongodump` writes it. */
export function writeDump(
  directory: string,
  collections: Collections,
  { gzip = false, database = 'lb' } = {},
): string {
  mkdirSync(join(directory, database), { recursive: true })
  for (const [name, documents] of Object.entries(collections)) {
    const bytes = Buffer.concat(documents.map((each) => serialize(each)))
    const path = join(directory, database, `${encodeURIComponent(name)}.bson`)
    writeFileSync(gzip ? `${path}.gz` : path, gzip ? gzipSync(bytes) : bytes)
    writeFileSync(join(directory, database, `${name}.metadata.json`), '{"indexes":[]}')
  }
  return directory
}

const TERMINATOR = Buffer.from([0xff, 0xff, 0xff, 0xff])

/** As `mongodump --archive` writes it: the blocks of the collections alternate. */
export function singleFileDump(collections: Collections, database = 'lb'): Buffer {
  const names = Object.keys(collections)
  const header = {
    concurrent_collections: 4,
    version: '0.1',
    server_version: '6.0.0',
    tool_version: '100.9.0',
  }
  const prelude = names.map((collection) =>
    serialize({ db: database, collection, metadata: '{"indexes":[]}', size: 0, type: 'collection' }),
  )
  const longest = Math.max(0, ...Object.values(collections).map(({ length }) => length))
  const blocks: Uint8Array[] = []
  for (let i = 0; i < longest; i += 2) {
    for (const collection of names) {
      const documents = collections[collection]!.slice(i, i + 2).map((each) => serialize(each))
      if (documents.length === 0) continue
      const begin = { db: database, collection, EOF: false, CRC: Long.ZERO }
      blocks.push(serialize(begin), ...documents, TERMINATOR)
    }
  }
  const ends = names.flatMap((collection) => {
    const crc = new Crc64()
    for (const each of collections[collection]!) crc.add(serialize(each))
    return [serialize({ db: database, collection, EOF: true, CRC: Long.fromBigInt(crc.value()) }), TERMINATOR]
  })
  const magic = Buffer.from([0x6d, 0xe2, 0x99, 0x81])
  return Buffer.concat([magic, serialize(header), ...prelude, TERMINATOR, ...blocks, ...ends])
}

export type ExportForm = 'lines' | 'array' | 'pretty'

/** As `mongoexport` writes it. */
export function exportText(documents: readonly Document[], form: ExportForm, isRelaxed: boolean): string {
  const texts = documents.map((each) => EJSON.stringify(each, { relaxed: isRelaxed }))
  switch (form) {
    case 'lines':
      return texts.map((text) => `${text}\n`).join('')
    case 'array':
      return `[${texts.join(',\n')}]\n`
    case 'pretty':
      return documents.map((each) => `${EJSON.stringify(each, { relaxed: isRelaxed }, 2)}\n`).join('')
  }
}
