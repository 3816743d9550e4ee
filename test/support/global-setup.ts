/**
 * What a whole run of the tests shares: one PostgreSQL server, unless SMALT_TEST_POSTGRES names one, and the compiled
 * modules, unless NODE_COMPILE_CACHE says where they are. To compile takes longer than most files of tests.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PostgresServer, startPostgres } from './postgres.ts'

let server: PostgresServer | undefined
let compiled: string | undefined

/** Test processes inherit the variables. */
export async function globalSetup(): Promise<void> {
  if (!process.env['NODE_COMPILE_CACHE']) {
    compiled = mkdtempSync(join(tmpdir(), 'smalt-compiled-'))
    process.env['NODE_COMPILE_CACHE'] = compiled
  }
  if (process.env['SMALT_TEST_POSTGRES']) return
  server = await startPostgres()
  process.env['SMALT_TEST_POSTGRES'] = server.url
}

export async function globalTeardown(): Promise<void> {
  await server?.[Symbol.asyncDispose]()
  if (compiled) rmSync(compiled, { recursive: true, force: true })
}
