/**
 * Groups of test files that run in one process (`group.ts`). In a process for each file, nearly half of the time would be
 * spent on loading and compiling the same modules.
 */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** Imported by the processes of the groups only: what it imports would begin a test run in this one. */
const REGISTER = join(import.meta.dirname, 'group.ts')

/** Writes a module for each group, which the test runner runs as a file. Returns the files of each module. */
export function writeGroups(files: readonly string[], count: number): ReadonlyMap<string, readonly string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'smalt-groups-'))
  const groups = Map.groupBy(files.entries(), ([i]) => i % count)
  return new Map(
    [...groups].map(([i, members]) => {
      const paths = members.map(([, file]) => resolve(file))
      const path = join(directory, `group-${i + 1}.test.mjs`)
      const source = `import { registerFiles } from ${JSON.stringify(REGISTER)}
registerFiles(${JSON.stringify(paths)})
`
      writeFileSync(path, source)
      return [path, paths]
    }),
  )
}
