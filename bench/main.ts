/** `npm run bench`: how far Smalt stays from the least that could answer the same, measured in the same run. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Server, killAll, startLimit, startLoad, startSubject } from './children.ts'
import { type Figure, figuresOf } from './figures.ts'
import { fillItems, fillTagged, residentMegabytes, statementsOf } from './fill.ts'
import type { Statements } from './limit.ts'
import { type Measured, measure, median } from './measure.ts'
import { type Outcome, machineFacts, printOutcome } from './report.ts'

const HELP = `npm run bench -- [options]
  --seconds N     length of each measurement, for each side; 5 when absent
  --only NAME     static, find-get, find-alone, find-post, page, scan, tags, insert-1, insert-16, insert-64, batch or cold;
                  the beginning of a name chooses all that begin so; may stand several times
  --documents N   how many are stored beforehand; 100000 when absent
  --profile DIR   writes a CPU profile of Smalt under the load there
  --json          prints JSON
`

interface Options {
  readonly seconds: number
  readonly documents: number
  readonly profile: string | undefined
  readonly isWanted: (name: string) => boolean
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    documents: { type: 'string', default: '100000' },
    only: { type: 'string', multiple: true, default: [] },
    profile: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) process.stdout.write(HELP)
else await main()

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'smalt-bench-'))
  const clean = (): void => {
    killAll()
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130))
  process.on('exit', clean)
  const outcome = await bench(directory, readOptions())
  process.stdout.write(values.json ? `${JSON.stringify(outcome, undefined, 2)}\n` : printOutcome(outcome))
  if (outcome.figures.some(({ errors }) => errors > 0)) process.exitCode = 1
}

function readOptions(): Options {
  const { only, profile } = values
  return {
    seconds: positive('seconds'),
    documents: Math.round(positive('documents')),
    profile,
    isWanted: (name) =>
      only.length === 0 || only.some((each) => name === each || name.startsWith(`${each}-`)),
  }
}

function positive(name: 'seconds' | 'documents'): number {
  const value = Number(values[name])
  if (value > 0 && Number.isFinite(value)) return value
  process.stderr.write(`--${name} must be a number greater than 0, not ${JSON.stringify(values[name])}\n`)
  process.exit(2)
}

async function bench(directory: string, options: Options): Promise<Outcome> {
  const machine = machineFacts()
  const data = { subject: join(directory, 'subject'), limit: join(directory, 'limit') }
  const { documents, seconds, isWanted } = options
  progress(`storing ${documents} documents`)
  const { filled, statements, afterFill } = await prepare(data.subject, options)
  // the same file, so the same layout down to the page
  cpSync(data.subject, data.limit, { recursive: true })
  const coldStartMs = isWanted('cold') ? await coldStarts(data, statements) : undefined
  const figures = figuresOf(filled.ids, documents).filter(({ name }) => isWanted(name))
  const { measured, afterLoad } = await measureAll(figures, { data, statements, options })
  progress('')
  return {
    machine,
    documents,
    secondsPerSide: seconds,
    fillPerSecond: filled.perSecond,
    ...(coldStartMs && { coldStartMs }),
    residentMegabytes: { afterFill, afterLoad },
    figures: measured,
  }
}

async function prepare(directory: string, { documents, isWanted }: Options) {
  await using subject = await startSubject(directory)
  const filled = await fillItems(subject, documents)
  if (isWanted('tags')) await fillTagged(subject, documents)
  return { filled, statements: await statementsOf(subject), afterFill: await residentMegabytes(subject) }
}

interface Data {
  readonly subject: string
  readonly limit: string
}

async function coldStarts(data: Data, statements: Statements) {
  const times = { subject: [] as number[], limit: [] as number[] }
  for (let i = 0; i < 7; i++) {
    progress(`cold start ${i + 1} of 7`)
    times.subject.push(await startMs(() => startSubject(data.subject)))
    times.limit.push(await startMs(() => startLimit(data.limit, statements)))
  }
  return { subject: median(times.subject), limit: median(times.limit) }
}

async function startMs(start: () => Promise<Server>): Promise<number> {
  await using server = await start()
  return server.startMs
}

interface Setting {
  readonly data: Data
  readonly statements: Statements
  readonly options: Options
}

async function measureAll(figures: readonly Figure[], { data, statements, options }: Setting) {
  await using subject = await startSubject(data.subject, options.profile)
  await using limit = await startLimit(data.limit, statements)
  using load = startLoad()
  const measured: Measured[] = []
  for (const [i, figure] of figures.entries()) {
    progress(`${i + 1} of ${figures.length}: ${figure.title}, ${figure.connections} connections`)
    measured.push(await measure(figure, { load, subject, limit, seconds: options.seconds }))
  }
  return { measured, afterLoad: await residentMegabytes(subject) }
}

/** One line that is written over, for a person who waits. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text}`)
}
