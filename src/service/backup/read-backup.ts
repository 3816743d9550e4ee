/** Reads a backup as if it were a store, and checks every page of it. */
import { hash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Collection } from '../../schema/schema.ts'
import type { ExportedSinkRow, SinkTable } from '../../store/transfer-sinks.ts'
import {
  type ExportedAnswer,
  type ExportedChange,
  type ExportedCollection,
  type ExportedHistory,
  type ExportedRecords,
  type StoreExport,
  countWithin,
} from '../../store/transfer.ts'
import type { ExportedEvent } from '../../store/events.ts'
import {
  BackupError,
  FOOTER_BYTES,
  FORMAT,
  FORMAT_WITH_JOINT_SINKS,
  type Header,
  type Page,
  type SectionName,
  damaged,
  parseFooter,
} from './backup-format.ts'

const decompress = promisify(gunzip)

interface OpenBackup extends StoreExport, AsyncDisposable {
  readonly header: Header
  readonly bytes: number
  /** Reads everything; fails at the first page that is not as it was written. */
  readonly verify: (signal?: AbortSignal) => Promise<void>
}

/** Fails with an BackupError if the file is no complete backup. */
export async function openBackup(file: string): Promise<OpenBackup> {
  await using opened = new AsyncDisposableStack()
  const handle = opened.adopt(await open(file, 'r'), (each) => each.close())
  const { size } = await handle.stat()
  const pages = await readIndex(handle, size)
  const section = (name: SectionName, collection?: number): readonly Page[] =>
    pages.filter((page) => page.section === name && page.collection === collection)
  const rowsOf = async (name: SectionName): Promise<readonly unknown[]> => {
    const rows: unknown[] = []
    for (const page of section(name)) rows.push(...(await readPage(handle, page)))
    return rows
  }
  const [header] = (await rowsOf('header')) as readonly Header[]
  if (!header) throw damaged('it has no header')
  if (header.format !== FORMAT && header.format !== FORMAT_WITH_JOINT_SINKS) {
    throw new BackupError(
      `the backup has the format ${header.format}, and this release reads formats ${FORMAT_WITH_JOINT_SINKS} and ${FORMAT}; restore it with the release that made it`,
    )
  }
  const collections = (await rowsOf('collections')) as readonly ExportedCollection[]
  const numberOf = ({ name, entity }: Collection): number =>
    collections.findIndex(({ collection }) => collection.name === name && collection.entity === entity)
  const owned = opened.move()
  return {
    header,
    bytes: size,
    collections: async () => collections,
    async *documents(collection) {
      for (const page of section('documents', numberOf(collection))) {
        const rows = (await readPage(handle, page)) as readonly (readonly [string, number, string])[]
        yield rows.map(([key, version, text]) => ({ key, version, text }))
      }
    },
    past: (collection) => pagesOf<ExportedChange>(handle, section('past', numberOf(collection))),
    async sequences() {
      const rows = (await rowsOf('sequences')) as readonly (readonly [string, string, string])[]
      return rows.map(([name, next, increment]) => ({
        name,
        next: BigInt(next),
        increment: BigInt(increment),
      }))
    },
    history: () => pagesOf<ExportedHistory>(handle, section('history')),
    events: () => pagesOf<ExportedEvent>(handle, section('events')),
    lastEvent: async () => header.lastEvent,
    ...(header.format === FORMAT_WITH_JOINT_SINKS
      ? jointSinks(async () => ((await rowsOf('sinks')) as readonly JointSinks[])[0]!)
      : {
          sinks: async () => (await rowsOf('sinks')) as readonly ExportedSinkRow[],
          sinkItems: () => pagesOf<ExportedSinkRow>(handle, section('sink-items')),
        }),
    records: async () => ((await rowsOf('records')) as readonly ExportedRecords[])[0]!,
    answers: () => pagesOf<ExportedAnswer>(handle, section('answers')),
    async verify(signal) {
      for (const page of pages) {
        signal?.throwIfAborted()
        await readPage(handle, page)
      }
      for (const [i, { count, collection }] of collections.entries()) {
        const rows = section('documents', i).reduce((sum, page) => sum + page.rows, 0)
        if (rows !== count) throw damaged(`it has ${rows} of ${count} documents of ${collection.entity}`)
      }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

type JointSinks = Readonly<Record<SinkTable, readonly ExportedSinkRow[]>>

/** The rows of both tables are in memory, but nobody gets more than a page of items at once. */
function jointSinks(read: () => Promise<JointSinks>): Pick<StoreExport, 'sinks' | 'sinkItems'> {
  return {
    sinks: async () => (await read()).smalt_sink,
    async *sinkItems() {
      const { smalt_sink_item: items } = await read()
      for (let begin = 0; begin < items.length;) {
        const next = items.slice(begin, begin + JOINT_ITEMS)
        const count = countWithin(next.map((row) => row.reduce((sum, { length }) => sum + length, 0)))
        yield next.slice(0, count)
        begin += count
      }
    },
  }
}

const JOINT_ITEMS = 500

async function* pagesOf<T>(handle: FileHandle, pages: readonly Page[]): AsyncGenerator<readonly T[]> {
  for (const page of pages) yield (await readPage(handle, page)) as readonly T[]
}

async function readIndex(handle: FileHandle, size: number): Promise<readonly Page[]> {
  if (size < FOOTER_BYTES) throw damaged('it is too short')
  const end = await readBytes(handle, { offset: size - FOOTER_BYTES, length: FOOTER_BYTES })
  const footer = parseFooter(await textOf(end))
  if (footer.offset + footer.length + FOOTER_BYTES !== size) throw damaged('parts of it are missing')
  const page: Page = { section: 'index', rows: 1, ...footer }
  const [pages] = (await readPage(handle, page)) as readonly (readonly Page[])[]
  return pages!
}

async function readPage(handle: FileHandle, page: Page): Promise<readonly unknown[]> {
  const bytes = await readBytes(handle, page)
  if (hash('sha256', bytes) !== page.sha256) {
    throw damaged(`the part "${page.section}" at byte ${page.offset} is not what was written`)
  }
  const lines = (await textOf(bytes)).split('\n')
  const rows = lines.slice(0, -1).map((line) => JSON.parse(line) as unknown)
  if (rows.length !== page.rows) throw damaged(`rows of the part "${page.section}" are missing`)
  return rows
}

async function readBytes(
  handle: FileHandle,
  { offset, length }: Pick<Page, 'offset' | 'length'>,
): Promise<Buffer> {
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, offset)
  if (bytesRead !== length) throw damaged('it is too short')
  return buffer
}

async function textOf(bytes: Buffer): Promise<string> {
  try {
    return (await decompress(bytes)).toString('utf8')
  } catch {
    throw damaged('it cannot be decompressed')
  }
}
