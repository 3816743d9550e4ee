/** Lets others have the event loop once a loop of small steps has kept it for a while. */
import { setImmediate as nextTurn } from 'node:timers/promises'

const MAX_STRETCH_MS = 10

/** To be awaited before each step. Steps that wait for each other without a turn of the loop would keep it all the same. */
export function createYielding(): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < MAX_STRETCH_MS) return
    await nextTurn()
    since = performance.now()
  }
}
