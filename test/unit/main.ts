/**
 * Runs the unit tests in two processes, one for each half of the files. In a process for each file, most of the time
 * would be spent on loading modules.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

const HALVES = 2
const FILES = ['test/*.test.ts', 'test/unit/**/*.test.ts']

/** The first half prints as it runs, the other one at its end. */
async function runHalf(index: number): Promise<number> {
  const options = ['--test', '--test-isolation=none', `--test-shard=${index}/${HALVES}`]
  const child = spawn(process.execPath, [...options, ...process.argv.slice(2), ...FILES], {
    stdio: ['ignore', index === 1 ? 'inherit' : 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  const output = child.stdout ? await text(child.stdout) : ''
  const [code] = await ended
  process.stdout.write(output)
  return code ?? 1
}

const codes = await Promise.all(Array.from({ length: HALVES }, (_, i) => runHalf(i + 1)))
process.exitCode = Math.max(...codes)
