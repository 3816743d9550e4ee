/** One PostgreSQL server for a whole run of the tests, unless SMALT_TEST_POSTGRES names one. */
import { type PostgresServer, startPostgres } from './postgres.ts'

let server: PostgresServer | undefined

export async function globalSetup(): Promise<void> {
  if (process.env['SMALT_TEST_POSTGRES']) return
  server = await startPostgres()
  // test processes inherit it
  process.env['SMALT_TEST_POSTGRES'] = server.url
}

export async function globalTeardown(): Promise<void> {
  await server?.[Symbol.asyncDispose]()
}
