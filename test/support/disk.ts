/** Where files are on a disk, also in a run of the tests that keeps all others in memory. */
import { tmpdir } from 'node:os'

/** The variable by which a run of the tests tells where that is. */
export const DISK = 'SMALT_TEST_DISK'

/** For what is killed while it writes, and for programs, which not every file system in memory runs. */
export function diskDirectory(): string {
  return process.env[DISK] ?? tmpdir()
}
