/**
 * What a whole run of the tests shares: one PostgreSQL server, unless SMALT_TEST_POSTGRES or SMALT_TEST_CITUS names one,
 * the compiled modules, unless NODE_COMPILE_CACHE says where they are, and a place in memory for all that tests write, unless TMPDIR
 * says where that goes. To compile takes longer than most files of tests, and to wait for a disk longer than their work.
 */
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { citusUrl } from './citus.ts'
import { DISK } from './disk.ts'
import { OWN_SERVER } from './leased-database.ts'
import { type PostgresServer, startPostgres } from './postgres.ts'

let server: PostgresServer | undefined
let compiled: string | undefined
let memory: string | undefined

/** Test processes inherit the variables. */
export async function globalSetup(): Promise<void> {
  if (!process.env['TMPDIR'] && hasMemory()) {
    process.env[DISK] = tmpdir()
    memory = mkdtempSync(join(MEMORY, 'smalt-tests-'))
    // the server may run as somebody else
    chmodSync(memory, 0o755)
    process.env['TMPDIR'] = memory
  }
  if (!process.env['NODE_COMPILE_CACHE']) {
    compiled = mkdtempSync(join(tmpdir(), 'smalt-compiled-'))
    process.env['NODE_COMPILE_CACHE'] = compiled
  }
  if (citusUrl() !== undefined || process.env['SMALT_TEST_POSTGRES']) return
  server = await startPostgres()
  process.env['SMALT_TEST_POSTGRES'] = server.url
  process.env[OWN_SERVER] = '1'
}

export async function globalTeardown(): Promise<void> {
  await server?.[Symbol.asyncDispose]()
  for (const directory of [compiled, memory]) {
    if (directory) rmSync(directory, { recursive: true, force: true })
  }
  // another run may follow in this process
  if (server) for (const name of ['SMALT_TEST_POSTGRES', OWN_SERVER]) delete process.env[name]
  if (compiled) delete process.env['NODE_COMPILE_CACHE']
  if (memory) delete process.env['TMPDIR']
  server = compiled = memory = undefined
}

const MEMORY = '/dev/shm'
/** Many times what all tests together write. */
const ROOM_BYTES = 6 * 2 ** 30

/** Whether the system has a file system in memory, with room in it. */
function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize > ROOM_BYTES
  } catch {
    return false
  }
}
