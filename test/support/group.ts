/**
 * Groups of test files that run in one process, one file after the other. In a process for each file, nearly half of the
 * time would be spent on loading and compiling the same modules.
 */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { before, suite } from 'node:test'
import { chooseStore } from './store-kind.ts'
// eslint-disable-next-line import/no-unassigned-import -- loaded here, its service is closed after the last file, not the first
import './shared-service.ts'

/** Registers the tests of each file as a suite with the path of the file as its name. */
export function registerFiles(files: readonly string[]): void {
  for (const file of files) {
    void suite(relative('', file), async () => {
      before(() => chooseStore('sqlite'))
      await import(file)
    })
  }
}

/** Writes a module for each group, which the test runner runs as a file. Returns the files of each module. */
export function writeGroups(files: readonly string[], count: number): ReadonlyMap<string, readonly string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'smalt-groups-'))
  const groups = Map.groupBy(files.entries(), ([i]) => i % count)
  return new Map(
    [...groups].map(([i, members]) => {
      const paths = members.map(([, file]) => resolve(file))
      const path = join(directory, `group-${i + 1}.test.mjs`)
      const source = `import { registerFiles } from ${JSON.stringify(import.meta.filename)}
registerFiles(${JSON.stringify(paths)})
`
      writeFileSync(path, source)
      return [path, paths]
    }),
  )
}
