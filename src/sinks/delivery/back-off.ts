/** How long to wait after a failure: twice as long each time, and never all at the same moment. */

const FIRST_MS = 1_000
const LONGEST_MS = 3_600_000

/** After the n-th failure; `random` from 0 to 1 spreads it by a fifth to both sides. */
export function backOffMs(n: number, random: number): number {
  return Math.round(Math.min(FIRST_MS * 2 ** (n - 1), LONGEST_MS) * (0.8 + 0.4 * random))
}
