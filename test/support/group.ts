/** Runs test files in one process, one after the other. */
import { relative } from 'node:path'
import { after, before, suite } from 'node:test'
import { chooseStore } from './store-kind.ts'
// eslint-disable-next-line import/no-unassigned-import -- loaded here, its browser is closed after the last file, not the first
import './shared-chromium.ts'
// eslint-disable-next-line import/no-unassigned-import -- the same for its service
import './shared-service.ts'
import { throwUncaught, trackUntil } from './untracked-promises.ts'

/** Registers the tests of each file as a suite with the path of the file as its name. */
export function registerFiles(files: readonly string[]): void {
  const { promise: allRegistered, resolve } = Promise.withResolvers<void>()
  trackUntil(allRegistered)
  let left = files.length
  for (const file of files) {
    void suite(relative('', file), async () => {
      before(() => chooseStore('sqlite'))
      after(throwUncaught)
      await load(file).finally(() => --left === 0 && resolve())
    })
  }
}

const LOAD_MS = 120_000

/** A file that waits at its top level for ever would keep all others from being run. */
async function load(file: string): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`${file} did not load within ${LOAD_MS} ms`)), LOAD_MS)
  try {
    await Promise.race([import(file), late])
  } finally {
    clearTimeout(timer)
  }
}
