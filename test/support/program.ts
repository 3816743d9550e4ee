/**
 * The program that tests start as a process of their own. A complete run builds it first and tests the bundle that users
 * install, which also starts in a third of the time; a single file of tests starts the source.
 */
import { fileURLToPath } from 'node:url'

/** Names the file of the program. */
export const PROGRAM_VARIABLE = 'SMALT_TEST_PROGRAM'

export const PROGRAM =
  process.env[PROGRAM_VARIABLE] ?? fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
