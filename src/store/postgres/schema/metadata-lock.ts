/** The lock under which one process at a time changes metadata, or the tables that it describes. */
import { lockExclusively } from '../connection/advisory-locks.ts'
import type { SqlSession } from '../connection/connection.ts'

export async function lockMetadata(session: SqlSession, schema: string): Promise<void> {
  await lockExclusively(session, `metadata of ${schema}`)
}
