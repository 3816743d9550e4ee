/**
 * Runs all tests: first those that share the machine, then those that measure time or growth, two files at a time, or one
 * where the clock counts. Most files share a process with others (`support/group.ts`). A file that failed runs once more,
 * in a process of its own: a machine that was busy for a moment is not a fault of the change at hand. What fails twice
 * fails the run; what failed once is listed at the end, because it may be a race.
 */
import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'
import { globalSetup, globalTeardown } from './support/global-setup.ts'
import { PROGRAM_VARIABLE } from './support/program.ts'
import { writeGroups } from './support/write-groups.ts'

const SLOWEST = 20

interface Tier {
  readonly name: string
  readonly concurrency: number
  /** Of a process; a group takes minutes, and a busy machine may be several times as slow. */
  readonly timeoutMs: number
  /** Files that have a process of their own. They begin first, because some of them take long. */
  readonly alone: readonly string[]
  readonly grouped: readonly Grouped[]
}

/** Files that share processes, and the number of processes. */
interface Grouped {
  readonly files: readonly string[]
  readonly processes: number
}

/** They record the statements of all services of their process. */
const RECORDERS = [
  'test/service/reference-statements.test.ts',
  'test/store/postgres-shapes.test.ts',
  'test/store/postgres-shared-writes.test.ts',
]

/** They compare the latency of callers, or measure by the clock: nothing else may run meanwhile. */
const QUIET: Tier = {
  name: 'quiet',
  concurrency: 1,
  timeoutMs: 600_000,
  alone: filesAt('test/process/standstill/{fairness,hostile,page-scrolling,sorted-streams}.test.ts'),
  grouped: [],
}

/** They measure processor time, and pauses without the time in which others had the processor. */
const MEASURED: Tier = {
  ...QUIET,
  name: 'measured',
  concurrency: 2,
  alone: filesAt('test/process/{standstill,growth}/*.test.ts', QUIET.alone),
}

const BROWSER = filesAt('test/process/browser/*.test.ts')

const SHARED: Tier = {
  name: 'shared',
  concurrency: 4,
  timeoutMs: 2_700_000,
  alone: [...filesAt('test/property/**/*.test.ts'), ...RECORDERS],
  // what takes longest comes first, so that the small groups fill the end
  grouped: [
    { files: BROWSER, processes: 3 },
    {
      files: filesAt('test/process/**/*.test.ts', [...QUIET.alone, ...MEASURED.alone, ...BROWSER]),
      processes: 8,
    },
    { files: filesAt('test/{*.test.ts,{unit,service,store}/**/*.test.ts}', RECORDERS), processes: 20 },
  ],
}

function filesAt(pattern: string, except: readonly string[] = []): readonly string[] {
  return globSync(pattern)
    .filter((file) => !except.includes(file))
    .sort()
}

/** What an event of the runner says; the types of Node.js do not have all of it yet. */
interface Ended {
  readonly name: string
  readonly nesting: number
  readonly file?: string
  readonly entryFile?: string
  readonly details: { readonly duration_ms: number }
}

/** Files in which a test failed, with the names of those tests. */
type Failures = ReadonlyMap<string, readonly string[]>

async function runTier(tier: Tier): Promise<Failures> {
  const { name, concurrency, timeoutMs } = tier
  process.stdout.write(`\n— ${name} —\n`)
  // not by `globalSetupPath`, which a second run in one process ignores
  await globalSetup()
  const groups = new Map(tier.grouped.flatMap(({ files, processes }) => [...writeGroups(files, processes)]))
  const events = run({ files: [...tier.alone, ...groups.keys()], concurrency, timeout: timeoutMs })
  const outcome = collect(events, groups)
  for await (const text of events.compose(new spec())) process.stdout.write(text as string)
  outcome.addMissing()
  await globalTeardown()
  const slowest = [...outcome.seconds].toSorted(([, one], [, other]) => other - one).slice(0, SLOWEST)
  process.stdout.write(`\nslowest files of ${name}:\n`)
  for (const [file, spent] of slowest)
    process.stdout.write(`${spent.toFixed(0).padStart(6)} s  ${relative('', file)}\n`)
  return outcome.failures
}

/** Collects how each file ended. In a group, the tests of a file are reported before its suite. */
function collect(events: ReturnType<typeof run>, groups: ReadonlyMap<string, readonly string[]>) {
  const failures = new Map<string, readonly string[]>()
  const seconds = new Map<string, number>()
  const ofGroup = new Map<string, string[]>()
  events.on('test:fail', (event: Ended) => {
    const { name, nesting } = event
    // `file` is where the test is defined, which may be a module that several files import
    const entry = event.entryFile ?? event.file ?? name
    const members = groups.get(entry)
    if (!members) {
      const path = relative('', entry)
      failures.set(path, [...(failures.get(path) ?? []), name])
    } else if (nesting > 0) {
      ofGroup.set(entry, [...(ofGroup.get(entry) ?? []), name])
    } else if (members.includes(resolve(name))) {
      failures.set(name, ofGroup.get(entry) ?? [name])
      ofGroup.delete(entry)
    } else {
      // the process has ended too early: nobody knows which of its files is to blame
      for (const member of members) failures.set(relative('', member), [name])
    }
  })
  for (const kind of ['test:pass', 'test:fail'] as const) {
    events.on(kind, ({ name, nesting, entryFile = '', details }: Ended) => {
      if (nesting === 0 && groups.has(entryFile)) seconds.set(name, details.duration_ms / 1_000)
    })
  }
  events.on('test:summary', ({ file, duration_ms: ms }) => {
    if (file !== undefined && !groups.has(file)) seconds.set(file, ms / 1_000)
  })
  return {
    failures,
    seconds,
    /** To be called at the end: a file that ends its process hides the files of its group that follow. */
    addMissing() {
      for (const file of [...groups.values()].flat().map((path) => relative('', path))) {
        if (!seconds.has(file) && !failures.has(file)) failures.set(file, ['it did not run'])
      }
    },
  }
}

function list(title: string, failures: Failures): void {
  process.stdout.write(`\n${title}\n`)
  for (const [file, tests] of failures) {
    process.stdout.write(`  ${file}\n${tests.map((test) => `    ${test}\n`).join('')}`)
  }
}

/** Builds the bundle that users install, and lets the tests start that. */
function buildProgram(): void {
  const inRoot = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url))
  const bundle = [inRoot('node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'warn']
  execFileSync(process.execPath, bundle, { cwd: inRoot(''), stdio: 'inherit' })
  process.env[PROGRAM_VARIABLE] = inRoot('dist/lib/main.js')
}

buildProgram()
const first = new Map<string, readonly string[]>()
for (const tier of [SHARED, MEASURED, QUIET]) {
  for (const [file, tests] of await runTier(tier)) first.set(file, tests)
}
if (first.size > 0) {
  list('failed, and runs again:', first)
  const again = await runTier({ ...QUIET, name: 'again', alone: [...first.keys()] })
  list('failed once:', new Map([...first].filter(([file]) => !again.has(file))))
  if (again.size > 0) {
    list('failed twice:', again)
    process.exitCode = 1
  }
}
