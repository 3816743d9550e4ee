/** The lock under which one process at a time changes metadata, or the tables that it describes. */
import { lockExclusively } from '../connection/advisory-locks.ts'
import type { Session } from '../connection/connections.ts'

export async function lockMetadata(session: Session, schema: string): Promise<void> {
  await lockExclusively(session, `metadata of ${schema}`)
}
