/**
 * Runs all tests: first those that share the machine, then those that measure time or growth, one file at a time. A
 * file that failed runs once more, alone: a machine that was busy for a moment is not a fault of the change at hand.
 * What fails twice fails the run; what failed once is listed at the end, because it may be a race.
 */
import { execFileSync } from 'node:child_process'
import { relative } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'
import { globalSetup, globalTeardown } from './support/global-setup.ts'
import { PROGRAM_VARIABLE } from './support/program.ts'

const TIMEOUT_MS = 600_000
const SLOWEST = 20

interface Tier {
  readonly name: string
  readonly concurrency: number
  readonly files: { readonly globPatterns: string[] } | { readonly files: string[] }
}

const SHARED: Tier = {
  name: 'shared',
  concurrency: 4,
  files: {
    globPatterns: [
      'test/*.test.ts',
      'test/{unit,service,store,property}/**/*.test.ts',
      'test/process/!(standstill|growth)/**/*.test.ts',
    ],
  },
}

const MEASURED: Tier = {
  name: 'measured',
  concurrency: 1,
  files: { globPatterns: ['test/process/{standstill,growth}/**/*.test.ts'] },
}

/** What an event of the runner says; the types of Node.js do not have all of it yet. */
interface Failed {
  readonly name: string
  readonly file?: string
  readonly entryFile?: string
}

/** Files in which a test failed, with the names of those tests. */
type Failures = ReadonlyMap<string, readonly string[]>

async function runTier({ name, concurrency, files }: Tier): Promise<Failures> {
  process.stdout.write(`\n— ${name} —\n`)
  const failures = new Map<string, string[]>()
  // not by `globalSetupPath`, which a second run in one process ignores
  await globalSetup()
  const events = run({ ...files, concurrency, timeout: TIMEOUT_MS })
  events.on('test:fail', (failed: Failed) => {
    // `file` is where the test is defined, which may be a module that several files import
    const path = relative('', failed.entryFile ?? failed.file ?? failed.name)
    failures.set(path, [...(failures.get(path) ?? []), failed.name])
  })
  const seconds = new Map<string, number>()
  events.on('test:summary', ({ file, duration_ms: ms }) => {
    if (file !== undefined) seconds.set(file, ms / 1_000)
  })
  for await (const text of events.compose(new spec())) process.stdout.write(text as string)
  await globalTeardown()
  const slowest = [...seconds].toSorted(([, one], [, other]) => other - one).slice(0, SLOWEST)
  process.stdout.write(`\nslowest files of ${name}:\n`)
  for (const [file, spent] of slowest)
    process.stdout.write(`${spent.toFixed(0).padStart(6)} s  ${relative('', file)}\n`)
  return failures
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
const first = new Map([...(await runTier(SHARED)), ...(await runTier(MEASURED))])
if (first.size > 0) {
  list('failed, and runs again:', first)
  const again = await runTier({ name: 'again', concurrency: 1, files: { files: [...first.keys()] } })
  list('failed once:', new Map([...first].filter(([file]) => !again.has(file))))
  if (again.size > 0) {
    list('failed twice:', again)
    process.exitCode = 1
  }
}
