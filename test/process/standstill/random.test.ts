/** Random requests built to be expensive, from several callers at once: nobody stands still, and nothing is left over. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SEED } from '../../support/seed.ts'
import { chanceFrom } from '../../support/seeded.ts'
import type { Outcome } from './client.ts'
import { defineExpensive } from './expensive-documents.ts'
import { MAX_MS, type Request, expensiveRequest } from './expensive-requests.ts'
import { monotonicMs } from './beats.ts'
import { answerOf, defineNeighbour, judge, longest, observe, print, quantile } from './observe.ts'
import { type WatchedService, startWatched } from './service.ts'
import { STORES } from '../../support/store-kind.ts'

const CASES = Number(process.env['CASES'] ?? 600)
const CALLERS = 5
/** The aim is 500 ms; these callers also wait for each other. */
const MARGIN_MS = 5_000
/** A service that does not answer is not asked for the whole number. */
const MAX_SILENT = 3
const ENV = { SMALT_LIMITS_QUERY_TIME_MS: String(MAX_MS) }
const DOCUMENTED = [200, 400, 403, 404, 409, 413, 422, 503, 504]

for (const kind of STORES) {
  test(
    `random: ${CASES / STORES.length} expensive requests on ${kind} (SMALT_SEED=${SEED})`,
    { timeout: 300_000 },
    async (t) => {
      t.diagnostic(`SMALT_SEED=${SEED}`)
      await using on = await startWatched(kind, { env: ENV })
      await defineNeighbour(on)
      await defineExpensive(on, chanceFrom(SEED))
      const sent: Sent[] = []
      const seen = await observe(on, () => sendAll(on, sent))
      const line = [print('random', on, seen), ...describe(sent, seen.during)].join('\n')
      console.log(describe(sent, seen.during).join('\n'))
      const failed = sent.find(({ outcome }) => !DOCUMENTED.includes(outcome.status))
      assert.equal(
        failed && nameOf(failed),
        undefined,
        `only documented answers\n${line}\n${on.faults().join('\n')}`,
      )
      const late = sent.find(
        ({ outcome, request }) => outcome.ms > request.limitMs + MARGIN_MS + seen.during.starvedMs,
      )
      assert.equal(late && nameOf(late), undefined, `every answer in time\n${line}`)
      const bare = sent.find(({ outcome: { status, headers } }) => status === 503 && !headers['retry-after'])
      assert.equal(bare && nameOf(bare), undefined, `503 says when to try again\n${line}`)
      judge(on, seen, { answers: DOCUMENTED.map(String), limitMs: 6 * MAX_MS + MARGIN_MS }, line)
      assert.deepEqual(on.faults(), [])
      assert.equal(sent.length, CASES / STORES.length)
    },
  )
}

interface Sent {
  readonly number: number
  readonly request: Request
  readonly outcome: Outcome
  readonly startMs: number
}

async function sendAll(on: WatchedService, sent: Sent[]): Promise<readonly Outcome[]> {
  let next = 0
  let silent = 0
  const caller = async (name: string): Promise<void> => {
    for (let i = next++; i < CASES / STORES.length && silent < MAX_SILENT; i = next++) {
      const request = expensiveRequest(chanceFrom(SEED ^ Math.imul(i + 1, 0x9e3779b1)))
      const { method, path, body } = request
      const startMs = monotonicMs()
      const outcome = await on.ask(method, path, { ...(body !== undefined && { body }), caller: name })
      if (outcome.status === 0) silent++
      sent.push({ number: i, request, outcome, startMs })
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, (_, i) => caller(`caller${i}`)))
  return sent.map(({ outcome }) => outcome)
}

/** Counts of answers, the slowest requests, and those under way during the longest pause. */
function describe(
  sent: readonly Sent[],
  { pauseEndedMs, pauseMs }: { pauseEndedMs: number; pauseMs: number },
) {
  const counts = new Map<string, number>()
  for (const { outcome } of sent) counts.set(answerOf(outcome), (counts.get(answerOf(outcome)) ?? 0) + 1)
  const outcomes = sent.map(({ outcome }) => outcome)
  const [p50, p99] = [quantile(outcomes, 0.5), quantile(outcomes, 0.99)]
  const beganMs = pauseEndedMs - pauseMs
  const during = sent.filter(
    (each) => each.startMs < pauseEndedMs && each.startMs + each.outcome.ms > beganMs,
  )
  const slowest = sent.toSorted((a, b) => b.outcome.ms - a.outcome.ms).slice(0, 3)
  return [
    `#   ${sent.length} requests, p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, longest ${longest(outcomes).toFixed(0)} ms`,
    `#   ${[...counts]
      .sort((a, b) => b[1] - a[1])
      .map(([answer, count]) => `${answer}: ${count}`)
      .join(', ')}`,
    ...slowest.map((each) => `#   slowest ${nameOf(each)}`),
    ...during.slice(0, 8).map((each) => `#   during the longest pause ${nameOf(each)}`),
  ]
}

function nameOf({ number, request: { shape, method, path, body, limitMs }, outcome }: Sent): string {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  const sent = `${method} ${path.slice(0, 100)} ${text.length > 250 ? `${text.slice(0, 250)}… (${text.length})` : text}`
  return `${number} ${shape} (limit ${limitMs}): ${answerOf(outcome)} after ${outcome.ms.toFixed(0)} ms: ${sent}`
}
