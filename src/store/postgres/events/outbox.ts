/** Notices whether a write entered events into the outbox. */
import type { WritePlan } from '../../../plan/plan.ts'
import type { StoreSession } from '../../store.ts'

/** Calls back when work that told of something has ended, however it has. */
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

/** The same for what is written in a session. */
export function capturing(session: StoreSession, note: <P extends WritePlan>(plan: P) => P): StoreSession {
  return { ...session, write: (plan, begin, bounds) => session.write(note(plan), begin, bounds) }
}
