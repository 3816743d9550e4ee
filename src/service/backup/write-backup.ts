/** Writes everything in a store into one compressed file. */
import { hash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { StoreExport } from '../../store/transfer.ts'
import { FORMAT, type Header, type Page, type SectionName, printFooter } from './backup-format.ts'

const compress = promisify(gzip)

export interface Writing {
  readonly kind: Header['kind']
  readonly made: string
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void
  readonly signal?: AbortSignal
}

/** The file is on disk when this resolves; it must not exist before. */
export async function writeBackup(file: string, source: StoreExport, writing: Writing): Promise<void> {
  // It contains everything that the store does, and its secrets.
  const handle = await open(file, 'wx', 0o600)
  try {
    await writeAll(createPages(handle, writing.signal), source, writing)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

interface Pages {
  readonly add: (section: SectionName, rows: readonly unknown[], collection?: number) => Promise<void>
  readonly finish: () => Promise<void>
}

async function writeAll({ add, finish }: Pages, source: StoreExport, writing: Writing): Promise<void> {
  const { kind, made, onProgress } = writing
  const collections = await source.collections()
  const header: Header = { format: FORMAT, kind, made, lastEvent: await source.lastEvent() }
  await add('header', [header])
  await add('collections', collections)
  await add('records', [await source.records()])
  const sequences = await source.sequences()
  await add(
    'sequences',
    sequences.map(({ name, next, increment }) => [name, String(next), String(increment)]),
  )
  for await (const page of source.history()) await add('history', page)
  const total = collections.reduce((sum, { count }) => sum + count, 0)
  let done = 0
  for (const [i, { collection }] of collections.entries()) {
    for await (const page of source.documents(collection)) {
      await add(
        'documents',
        page.map(({ key, version, text }) => [key, version, text]),
        i,
      )
      onProgress?.({ done: (done += page.length), total })
    }
    for await (const page of source.past(collection)) await add('past', page, i)
  }
  for await (const page of source.events()) await add('events', page)
  await add('sinks', await source.sinks())
  for await (const page of source.sinkItems()) await add('sink-items', page)
  for await (const page of source.answers()) await add('answers', page)
  await finish()
}

function createPages(handle: FileHandle, signal: AbortSignal | undefined): Pages {
  const pages: Page[] = []
  let offset = 0

  async function append(text: string, level: number): Promise<Omit<Page, 'section' | 'rows'>> {
    signal?.throwIfAborted()
    const bytes = await compress(text, { level })
    await handle.appendFile(bytes)
    const place = { offset, length: bytes.length, sha256: hash('sha256', bytes) }
    offset += bytes.length
    return place
  }

  return {
    async add(section, rows, collection) {
      const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
      const place = await append(text, LEVEL)
      pages.push({ section, ...(collection !== undefined && { collection }), ...place, rows: rows.length })
    },
    async finish() {
      const index = await append(`${JSON.stringify(pages)}\n`, LEVEL)
      await append(printFooter(index), 0)
    },
  }
}

/** Compresses nearly as well as the usual level, in half of the time. */
const LEVEL = 4
