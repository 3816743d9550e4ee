/** `smalt import` against inserts of 1,000 documents in each request, and `smalt export`: rates, and peaks of memory. */
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Program, type Server, peakMegabytes, resetPeak, startCommand } from './children.ts'
import { item, itemMetadata } from './documents.ts'
import { define, store } from './fill.ts'
import { median } from './measure.ts'

export interface Transferred {
  readonly documents: number
  readonly insertsPerSecond: number
  readonly importsPerSecond: number
  /** Median over the turns. */
  readonly ratio: number
  readonly exportsPerSecond: number
  /** Largest resident memory of each process. */
  readonly peakMegabytes: {
    readonly importing: number
    readonly exporting: number
    readonly serviceImporting: number
    readonly serviceExporting: number
  }
}

const TURNS = 3
const BATCH = 1_000
/** Inserts that are under way at the same time. */
const CONNECTIONS = 4
const INSERTED = 'inserted'
const IMPORTED = 'imported'

export interface TransferOptions {
  readonly program: Program
  readonly documents: number
}

export async function transfer(
  server: Server,
  { program, documents }: TransferOptions,
): Promise<Transferred> {
  const run = (args: readonly string[]) => runCommand(program, [...args, '--url', server.api])
  const directory = mkdtempSync(join(tmpdir(), 'smalt-bench-'))
  try {
    for (const entity of [INSERTED, IMPORTED]) await define(server, entity, itemMetadata(entity))
    const file = join(directory, 'documents.ndjson')
    const perTurn = Math.max(CONNECTIONS * BATCH, Math.ceil(documents / TURNS / BATCH) * BATCH)
    await writeDocuments(file, perTurn)
    const inserts: number[] = []
    const imports: number[] = []
    let importing = 0
    for (let turn = 0; turn < TURNS; turn++) {
      inserts.push(perTurn / (await insertAll(server, perTurn)))
      const ended = await run(['import', file, '--entity', IMPORTED])
      importing = Math.max(importing, ended.peakMegabytes)
      imports.push(perTurn / ended.seconds)
    }
    const serviceImporting = peakMegabytes(server.pid)
    resetPeak(server.pid)
    const exported = await run(['export', '--entity', IMPORTED, '--output', join(directory, 'out.ndjson')])
    return {
      documents: perTurn * TURNS,
      insertsPerSecond: median(inserts),
      importsPerSecond: median(imports),
      ratio: median(imports.map((each, i) => each / inserts[i]!)),
      exportsPerSecond: (perTurn * TURNS) / exported.seconds,
      peakMegabytes: {
        importing,
        exporting: exported.peakMegabytes,
        serviceImporting,
        serviceExporting: peakMegabytes(server.pid),
      },
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function writeDocuments(file: string, count: number): Promise<void> {
  const out = createWriteStream(file)
  for (let i = 0; i < count; i++) {
    if (!out.write(`${JSON.stringify(item(i, count))}\n`)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'finish')
}

/** Returns the seconds it took. */
async function insertAll({ api }: Server, count: number): Promise<number> {
  const data = Array.from({ length: BATCH }, (_, i) => item(i, count))
  let left = count / BATCH
  const began = performance.now()
  const one = async (): Promise<void> => {
    while (left-- > 0) await store(api, INSERTED, data)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, one))
  return (performance.now() - began) / 1_000
}

/** The seconds are those that the command reports, without the start of its process. */
async function runCommand(program: Program, args: readonly string[]) {
  const { out, peakMegabytes: peak } = await startCommand(program, [...args, '--json'])
  return { seconds: (JSON.parse(out) as { seconds: number }).seconds, peakMegabytes: peak }
}
