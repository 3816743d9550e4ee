/** `npm run bench`: how far Smalt stays from the least that could answer the same, measured in the same run. */
import { parseArgs } from 'node:util'
import type { Statements } from './bare.ts'
import { type Program, type Server, endTogether, startLoad } from './children.ts'
import { drain } from './drain.ts'
import type { Figure, StoreName } from './figure.ts'
import { figuresOf } from './figures.ts'
import {
  fillArticles,
  fillItems,
  fillReferences,
  fillTagged,
  fillWatched,
  residentMegabytes,
  statementsOf,
} from './fill.ts'
import { follow } from './follow.ts'
import { type Measured, measure, median } from './measure.ts'
import { middleOfWalk, walkPages } from './pages.ts'
import { openPlace } from './open-place.ts'
import type { Place } from './place.ts'
import { type Outcome, machineFacts, printOutcome } from './report.ts'
import { compareAnswers } from './same-answers.ts'
import { transfer } from './transfer.ts'

const HELP = `npm run bench -- [options]
  --store NAME    sqlite (when absent) or postgres: a server started for the run, or the one of SMALT_TEST_POSTGRES
                  or SMALT_TEST_CITUS
  --seconds N     length of each measurement, for each side; 5 when absent
  --only NAME     static, find-get, find-alone, find-post, document, page, sorted, cursor, keyset, scan, tags, rules-find,
                  rules-page, refs-page, refs-child, text, text-score, groups, sum, insert-1, insert-16, insert-64, update,
                  hook-insert-16, hook-update, batch, batch-text (postgres only), tables (postgres only), cold, drain,
                  followers or transfer; the beginning of a name chooses all that begin so; may stand several times.
                  cursor begins after pages of a walk, keyset in its middle, by the values of a document
  --documents N   how many are stored beforehand; 100000 when absent
  --transfer N    how many documents transfer inserts, imports and exports; as many as --documents when absent
  --built         measures what npm run build has made, in place of the source
  --profile DIR   writes a CPU profile of Smalt under the load there
  --json          prints JSON
`

/** Figures whose documents are stored only when one of them is wanted. */
const ABOUT_REFERENCES = ['refs-page', 'refs-child']
const ABOUT_TEXT = ['text', 'text-score']
const ABOUT_EVENTS = ['hook-insert-16', 'hook-update', 'drain', 'followers']

interface Options {
  readonly store: StoreName
  readonly seconds: number
  readonly documents: number
  readonly transferred: number
  readonly program: Program
  readonly profile: string | undefined
  readonly isWanted: (name: string) => boolean
}

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    seconds: { type: 'string', default: '5' },
    documents: { type: 'string', default: '100000' },
    transfer: { type: 'string' },
    built: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    profile: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) process.stdout.write(HELP)
else await main()

async function main(): Promise<void> {
  endTogether()
  const options = readOptions()
  await using place = await openPlace(options.store, options.program)
  const outcome = await bench(place, options)
  process.stdout.write(values.json ? `${JSON.stringify(outcome, undefined, 2)}\n` : printOutcome(outcome))
  const hasErrors = outcome.figures.some(({ errors }) => errors > 0)
  if (hasErrors || (outcome.followed?.missing ?? 0) > 0) process.exitCode = 1
}

function readOptions(): Options {
  const { only, profile, built } = values
  const documents = Math.round(positive('documents'))
  return {
    store: storeName(),
    seconds: positive('seconds'),
    documents,
    transferred: values.transfer === undefined ? documents : Math.round(positive('transfer')),
    program: built ? 'dist/lib/main.js' : 'src/cli/main.ts',
    profile,
    isWanted: (name) =>
      only.length === 0 || only.some((each) => name === each || name.startsWith(`${each}-`)),
  }
}

function storeName(): StoreName {
  const { store } = values
  if (store === 'sqlite' || store === 'postgres') return store
  process.stderr.write(`--store must be sqlite or postgres, not ${JSON.stringify(store)}\n`)
  process.exit(2)
}

function positive(name: 'seconds' | 'documents' | 'transfer'): number {
  const value = Number(values[name])
  if (value > 0 && Number.isFinite(value)) return value
  process.stderr.write(`--${name} must be a number greater than 0, not ${JSON.stringify(values[name])}\n`)
  process.exit(2)
}

async function bench(place: Place, options: Options): Promise<Outcome> {
  const machine = machineFacts(place.database)
  const { documents, seconds, isWanted, store } = options
  progress(`storing ${documents} documents`)
  const { filled, watched, begins, statements, afterFill } = await prepare(place, options)
  const figures = figuresOf({ items: filled.ids, watched, begins }, documents).filter(
    (figure) => isWanted(figure.name) && (figure.store ?? store) === store,
  )
  await place.copy(statements, { hasTables: figures.some(isBesideTables) })
  const before = await place.storage?.(statements)
  const coldStartMs = isWanted('cold') ? await coldStarts(place, statements) : undefined
  const { measured, afterLoad, tables } = await measureAll(figures, { place, statements, options })
  const after = await place.storage?.(statements)
  const alone = await measureAlone(place, options)
  progress('')
  return {
    machine,
    documents,
    secondsPerSide: seconds,
    fillPerSecond: filled.perSecond,
    ...(coldStartMs && { coldStartMs }),
    residentMegabytes: { afterFill, afterLoad },
    ...(before && after && { storage: { afterFill: before, afterLoad: after } }),
    ...(tables && { tablesStorage: tables }),
    figures: measured,
    ...alone,
  }
}

async function prepare(place: Place, { documents, isWanted }: Options) {
  await using subject = await place.startSubject()
  const filled = await fillItems(subject, documents)
  if (isWanted('tags')) await fillTagged(subject, documents)
  const hasReferences = ABOUT_REFERENCES.some(isWanted)
  if (hasReferences) await fillReferences(subject, documents)
  const hasArticles = ABOUT_TEXT.some(isWanted)
  if (hasArticles) await fillArticles(subject, documents)
  const watched = ABOUT_EVENTS.some(isWanted) ? await fillWatched(subject, documents) : []
  const begins = {
    first: isWanted('cursor') ? await walkPages(subject) : [],
    middle: isWanted('keyset') ? await middleOfWalk(subject, documents) : [],
  }
  const statements = await statementsOf(subject, { hasReferences, hasArticles })
  return { filled, watched, begins, statements, afterFill: await residentMegabytes(subject) }
}

async function coldStarts(place: Place, statements: Statements) {
  const times = { subject: [] as number[], limit: [] as number[] }
  for (let i = 0; i < 7; i++) {
    progress(`cold start ${i + 1} of 7`)
    times.subject.push(await startMs(() => place.startSubject()))
    times.limit.push(await startMs(() => place.startLimit(statements)))
  }
  return { subject: median(times.subject), limit: median(times.limit) }
}

async function startMs(start: () => Promise<Server>): Promise<number> {
  await using server = await start()
  return server.startMs
}

interface Setting {
  readonly place: Place
  readonly statements: Statements
  readonly options: Options
}

async function measureAll(figures: readonly Figure[], { place, statements, options }: Setting) {
  await using subject = await place.startSubject(options.profile)
  await using limit = await place.startLimit(statements)
  await using tables = figures.some(isBesideTables) ? await place.startTables?.() : undefined
  const tablesBefore = tables && (await place.tablesStorage?.())
  using load = startLoad()
  const measured: Measured[] = []
  for (const [i, figure] of figures.entries()) {
    progress(`${i + 1} of ${figures.length}: ${figure.title}, ${figure.connections} connections`)
    if (figure.isCompared) await compareAnswers(figure, subject, limit)
    const sides = { subject, limit, ...(tables && { tables }) }
    measured.push(await measure(figure, { load, ...sides, seconds: options.seconds }))
  }
  const tablesAfter = tables && (await place.tablesStorage?.())
  return {
    measured,
    afterLoad: await residentMegabytes(subject),
    ...(tablesBefore && tablesAfter && { tables: { afterFill: tablesBefore, afterLoad: tablesAfter } }),
  }
}

function isBesideTables({ against }: Figure): boolean {
  return against.kind === 'tables'
}

/** Each in a process that did nothing before. */
async function measureAlone(place: Place, options: Options) {
  const { documents, seconds, isWanted } = options
  const on = async <T>(name: string, run: (subject: Server) => Promise<T>): Promise<T | undefined> => {
    if (!isWanted(name)) return undefined
    progress(name)
    await using subject = await place.startSubject()
    return await run(subject)
  }
  const drained = await on('drain', (subject) => drain(subject, { seconds, least: documents }))
  const followed = await on('followers', (subject) => follow(subject, { seconds }))
  const transferred = await on('transfer', (subject) =>
    transfer(subject, { program: options.program, documents: options.transferred }),
  )
  return {
    ...(drained && { drained }),
    ...(followed && { followed }),
    ...(transferred && { transferred }),
  }
}

/** One line that is written over, for a person who waits. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text}`)
}
