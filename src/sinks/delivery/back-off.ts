/**
 * Retry delays: exponential back-off with jitter, so that retries after an outage do not all start at the
 * same time.
 */

const FIRST_MS = 1_000
const LONGEST_MS = 3_600_000

/** The delay after the n-th failure; `random` from 0 to 1 varies it by up to 20 % in both directions. */
export function backOffMs(n: number, random: number): number {
  return Math.round(Math.min(FIRST_MS * 2 ** (n - 1), LONGEST_MS) * (0.8 + 0.4 * random))
}
