/** What sinks have not delivered yet goes along with a move and with a backup, in pages, however much it is. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { type Page, printFooter } from '../../src/service/backup/backup-format.ts'
import { makeBackup } from '../../src/service/backup/backup.ts'
import { restore } from '../../src/service/backup/restore.ts'
import { move } from '../../src/service/move/move.ts'
import type { NewItem } from '../../src/store/sinks.ts'
import { openStore } from '../../src/store/open.ts'
import type { StoreExport } from '../../src/store/transfer.ts'
import { ADMIN, failLoudly, metadataDocument, openServiceAt } from '../support/service.ts'
import { type Place, STORES, freshPlace, onEveryStore } from '../support/store-kind.ts'

const BOUNDED = { timeout: 200_000 }
const PAGE_BYTES = 8 * 1024 * 1024
const LARGE_BYTES = 1_000_000
const LARGE = 10
const SMALL = 700

const directory = mkdtempSync(join(tmpdir(), 'smalt-sinks-'))
after(() => rmSync(directory, { recursive: true, force: true }))
let files = 0
const freshFile = (): string => join(directory, `${++files}.jsonl.gz`)

onEveryStore((kind) => {
  let filled: Promise<Filled> | undefined
  /** What nobody changes is filled once for all tests: that takes longer than they do. */
  const source = (): Promise<Filled> => (filled ??= fill())
  after(async () => {
    await (await filled)?.place[Symbol.asyncDispose]()
  })

  test('sink items: they are exported in pages that fit into memory', BOUNDED, async () => {
    const { place } = await source()
    await using store = await openStore(place.location, { onError: failLoudly })
    const pages = await Array.fromAsync(store.transfer.sinkItems())
    for (const page of pages) {
      const bytes = page.reduce((sum, row) => sum + Buffer.byteLength(row.join('')), 0)
      assert.ok(bytes <= PAGE_BYTES + 100_000 && page.length <= 1_000, `${page.length} rows, ${bytes} bytes`)
    }
    assert.ok(pages.length >= 3, `${pages.length} pages`)
    const keys = pages.flat().map(([sink, seq]) => `${sink} ${seq}`)
    assert.deepEqual(keys, [
      ...Array.from({ length: LARGE }, (_, i) => `a ${i + 1}`),
      ...Array.from({ length: SMALL }, (_, i) => `b ${i + 1}`),
    ])
  })

  for (const to of STORES) {
    test(`sink items: a move takes them along to ${to}`, BOUNDED, async () => {
      const { place, there } = await source()
      await using target = await freshPlace(to)
      await move({ from: place.location, to: target.location })
      assert.deepEqual(await sinksIn(target.location), there)
    })
  }

  test('sink items: each has a line of its own in a backup, of both formats', BOUNDED, async () => {
    const { place, there } = await source()
    const file = freshFile()
    await makeBackup({ from: place.location, file })
    const longest = Math.max(...linesOf(file).map(({ length }) => length))
    assert.ok(longest < 2 * LARGE_BYTES, `a line of ${longest} characters`)
    const sections = pagesIn(file).filter(({ section }) => section === 'sink-items')
    assert.equal(
      sections.reduce((sum, { rows }) => sum + rows, 0),
      LARGE + SMALL,
    )
    const earlier = freshFile()
    writeInFormat1(earlier, file)
    for (const each of [file, earlier]) {
      const to = kind === 'sqlite' ? 'postgres' : 'sqlite'
      await using target = await freshPlace(STORES.includes(to) ? to : kind)
      await restore({ file: each, to: target.location })
      assert.deepEqual(await sinksIn(target.location), there)
    }
  })
})

test('backup: one of a later format is refused', BOUNDED, async () => {
  await using place = await freshPlace()
  await (await openServiceAt(place.location))[Symbol.asyncDispose]()
  const [file, later] = [freshFile(), freshFile()]
  await makeBackup({ from: place.location, file })
  writeMembers(later, membersOf(file).map(inFormat(3)))
  await using target = await freshPlace()
  await assert.rejects(
    restore({ file: later, to: target.location }),
    /has the format 3, and this release reads formats 1 and 2/,
  )
})

interface Sinks {
  readonly sinks: Awaited<ReturnType<StoreExport['sinks']>>
  /** Digests, since a difference of megabytes cannot be read. */
  readonly items: readonly string[]
}

interface Filled {
  readonly place: Place
  readonly there: Sinks
}

/** A store with a sink that waits with large events, one with many small ones, and one with none. */
async function fill(): Promise<Filled> {
  const place = await freshPlace()
  const { location } = place
  {
    await using service = await openServiceAt(location)
    const body = metadataDocument('e', { a: { type: 'string' } })
    await service.metadata.create(ADMIN, { entity: 'e', version: '1.0.0' }, body)
    await service.data.insert(ADMIN, { entity: 'e' }, { data: { a: 'x' } })
  }
  {
    await using store = await openStore(location, { onError: failLoudly })
    const waiting = { a: itemsOf(LARGE, LARGE_BYTES), b: itemsOf(SMALL, 10), c: [] }
    for (const [name, entered] of Object.entries(waiting)) {
      await store.sinks.create({ name, definition: `{"of":"${name}"}`, position: 0 })
      const holder = { name, owner: 'me' }
      assert.ok(await store.sinks.hold({ ...holder, ttlMs: 60_000 }))
      const progress = { position: entered.length, isDisabled: false, failures: 1, retryAt: 7 }
      const results = { version: 1, progress, entered, changed: [], removed: [] }
      assert.ok(await store.sinks.recordResults(holder, results))
    }
  }
  const there = await sinksIn(location)
  assert.deepEqual([there.sinks.length, there.items.length], [3, LARGE + SMALL])
  return { place, there }
}

function itemsOf(count: number, bytes: number): readonly NewItem[] {
  return Array.from({ length: count }, (_, i): NewItem => {
    const state = {
      state: i % 2 ? 'dead' : 'waiting',
      attempts: i,
      nextAt: 9,
      error: 'ä',
      at: 1_000,
    } as const
    return {
      seq: i + 1,
      id: `event-${i}`,
      doc: `e/${i}`,
      ...state,
      event: `{"seq":${i},"ü":"${'x'.repeat(bytes)}"}`,
    }
  })
}

async function sinksIn(location: string): Promise<Sinks> {
  await using store = await openStore(location, { onError: failLoudly })
  const items: string[] = []
  for await (const page of store.transfer.sinkItems()) {
    items.push(...page.map((row) => `${row.slice(0, 3).join(' ')} ${hash('sha256', JSON.stringify(row))}`))
  }
  return { sinks: await store.transfer.sinks(), items }
}

interface Member extends Pick<Page, 'section' | 'collection'> {
  readonly lines: readonly string[]
}

function linesOf(file: string): readonly string[] {
  return gunzipSync(readFileSync(file)).toString().split('\n').slice(0, -1)
}

function pagesIn(file: string): readonly Page[] {
  return JSON.parse(linesOf(file).at(-2)!) as readonly Page[]
}

function membersOf(file: string): readonly Member[] {
  const bytes = readFileSync(file)
  return pagesIn(file).map(({ section, collection, offset, length, rows }) => {
    const lines = gunzipSync(bytes.subarray(offset, offset + length))
      .toString()
      .split('\n')
      .slice(0, rows)
    return { section, ...(collection !== undefined && { collection }), lines }
  })
}

function inFormat(format: number): (member: Member) => Member {
  return (member) =>
    member.section === 'header'
      ? { ...member, lines: member.lines.map((line) => JSON.stringify({ ...JSON.parse(line), format })) }
      : member
}

/** As earlier releases wrote it: sinks and their items are one line. */
function writeInFormat1(file: string, from: string): void {
  const members = membersOf(from)
  const rowsOf = (name: Page['section']): string =>
    members.flatMap(({ section, lines }) => (section === name ? lines : [])).join(',')
  const joint = `{"smalt_sink":[${rowsOf('sinks')}],"smalt_sink_item":[${rowsOf('sink-items')}]}`
  const others = members.filter(({ section }) => section !== 'sinks' && section !== 'sink-items')
  writeMembers(file, [...others.map(inFormat(1)), { section: 'sinks', lines: [joint] }])
}

function writeMembers(file: string, members: readonly Member[]): void {
  const parts: Buffer[] = []
  let offset = 0
  const append = (text: string, level?: number) => {
    const bytes = gzipSync(text, level === undefined ? {} : { level })
    parts.push(bytes)
    const place = { offset, length: bytes.length, sha256: hash('sha256', bytes) }
    offset += bytes.length
    return place
  }
  const pages = members.map(({ lines, ...rest }): Page => {
    return { ...rest, ...append(lines.map((line) => `${line}\n`).join('')), rows: lines.length }
  })
  append(printFooter(append(`${JSON.stringify(pages)}\n`)), 0)
  writeFileSync(file, Buffer.concat(parts))
}
