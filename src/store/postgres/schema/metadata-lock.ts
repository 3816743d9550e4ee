/** Of processes that change metadata, or what it describes, one comes first. */
import { lockExclusively } from '../connection/advisory-locks.ts'
import type { Session } from '../connection/connections.ts'

export async function lockMetadata(session: Session, schema: string): Promise<void> {
  await lockExclusively(session, `metadata of ${schema}`)
}
