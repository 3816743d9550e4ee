/** Detects whether a write added entries to the outbox, to wake the numbering of events. */
import type { WritePlan } from '../../../plan/plan.ts'
import type { TransactionSession } from '../../store.ts'

/** Calls back when work that captured a change has ended, even if it failed: it may have been committed all the same. */
export async function notifyAfterCapture<T>(
  onCaptured: () => void,
  work: (capturing: <P extends WritePlan>(plan: P) => P) => Promise<T>,
): Promise<T> {
  let hasCaptured = false
  try {
    return await work((plan) => {
      const { captureChange } = plan
      if (!captureChange) return plan
      return {
        ...plan,
        captureChange: (change) => {
          const outboxEntries = captureChange(change)
          hasCaptured ||= outboxEntries.length > 0
          return outboxEntries
        },
      }
    })
  } finally {
    if (hasCaptured) onCaptured()
  }
}

/** The same for writes in a session. */
export function capturing(
  session: TransactionSession,
  note: <P extends WritePlan>(plan: P) => P,
): TransactionSession {
  return { ...session, write: (plan, begin, bounds) => session.write(note(plan), begin, bounds) }
}
