/** Runs work against a watched service while another caller keeps asking, judges what was measured, and prints it. */
import assert from 'node:assert/strict'
import type { Outcome } from './client.ts'
import type { Figures } from './heartbeat-thread.ts'
import type { WatchedService } from './service.ts'

/** Margins for machines that are busy elsewhere; on a quiet one no pause should be longer than 50 ms. */
const MAX_PAUSE_MS = 400
const PAUSES_OF_BASELINE = 10
/** The aim is 500 ms. */
const ANSWER_MARGIN_MS = 3_000
const NEIGHBOUR_MARGIN_MS = 4_000
/** What threads that were started, caches and a fragmented heap may leave behind. */
const MAX_RSS_GROWTH_MB = 400
const MAX_HEAP_GROWTH_MB = 64
const SETTLE_MS = 6_000

export interface Observation {
  readonly during: Figures
  readonly after: Figures
  readonly before: Figures
  readonly outcomes: readonly Outcome[]
  readonly baselineMs: number
  /** How long the indexed finds of another caller took. */
  readonly neighbour: readonly Outcome[]
}

export const NEIGHBOUR = 'neighbour'

/** Documents of another caller, found by an index. */
export async function defineNeighbour(on: WatchedService): Promise<void> {
  const fields = { k: { type: 'integer' }, s: { type: 'string' } }
  await on.define('neighbour', fields, {
    info: { datastore: { backend: on.kind }, indexes: [{ fields: [{ field: 'k' }] }] },
  })
  const documents = Array.from({ length: 200 }, (_, i) => ({ _id: `n${i}`, k: i, s: `text ${i}` }))
  await on.store('neighbour', documents)
}

export function askNeighbour(on: Pick<WatchedService, 'ask'>, i: number): Promise<Outcome> {
  const body = {
    query: { field: 'k', op: '=', rvalue: i % 200 },
    projection: { field: '*', recursive: true },
  }
  return on.ask('POST', '/data/find/neighbour', { body, caller: NEIGHBOUR })
}

export async function observe(
  on: WatchedService,
  work: () => Promise<readonly Outcome[]>,
): Promise<Observation> {
  const before = await on.collect()
  await on.reset()
  for (let i = 0; i < 5; i++) await askNeighbour(on, i)
  await pause(60)
  const { ownPauseMs: baselineMs } = await on.read()
  await on.reset()
  const neighbour: Outcome[] = []
  const over = new AbortController()
  const others = (async () => {
    for (let i = 0; !over.signal.aborted && on.isAlive(); i++) {
      neighbour.push(await askNeighbour(on, i))
      await pause(10)
    }
  })()
  let outcomes: readonly Outcome[]
  try {
    outcomes = await work()
  } finally {
    over.abort()
  }
  await others
  const during = await on.read()
  return { before, during, after: await settled(on, before), outcomes, baselineMs, neighbour }
}

/** Memory is given back little by little. */
export async function settled(on: WatchedService, before: Figures): Promise<Figures> {
  let after = await on.collect()
  for (const end = Date.now() + SETTLE_MS; on.isAlive() && grown(before, after) && Date.now() < end;) {
    await pause(100)
    after = await on.collect()
  }
  return after
}

function grown(before: Figures, after: Figures): boolean {
  return after.heapMb > before.heapMb + MAX_HEAP_GROWTH_MB || after.rssMb > before.rssMb + MAX_RSS_GROWTH_MB
}

export interface Expected {
  /** Status, or status and code, such as `504 store-crud:Timeout`. */
  readonly answers: readonly string[]
  /** `maxTimeMs` of the requests; without one, what a sound answer takes. */
  readonly limitMs?: number
  /** How far memory may rise meanwhile. */
  readonly peakMb?: number
  /** Processor time of all of it. */
  readonly cpuMs?: number
}

export function print(name: string, on: WatchedService, seen: Observation): string {
  const { during, before, after, outcomes, baselineMs, neighbour } = seen
  const slowest = outcomes.reduce<Outcome | undefined>((a, b) => (a && a.ms > b.ms ? a : b), undefined)
  const answer = slowest ? `answered ${answerOf(slowest)} after ${slowest.ms.toFixed(0)} ms` : 'no request'
  const line = [
    `# ${name} ${on.kind}: longest pause ${during.ownPauseMs.toFixed(0)} ms`,
    `(by the clock ${during.pauseMs.toFixed(0)}, quiet ${baselineMs.toFixed(0)}),`,
    `${answer}, neighbour ${neighbour.length} finds, median ${median(neighbour).toFixed(0)} ms, longest ${longest(neighbour).toFixed(0)} ms,`,
    `cpu ${(during.cpuMs - before.cpuMs).toFixed(0)} ms,`,
    `rss ${signed(during.peakRssMb - before.rssMb)} MB, afterwards ${signed(after.rssMb - before.rssMb)} MB`,
    `(heap ${signed(after.heapMb - before.heapMb)})${on.isAlive() ? '' : ', THE PROCESS DIED'}`,
  ].join(' ')
  console.log(line)
  return line
}

export function answerOf({ status, code }: Outcome): string {
  if (status === 0) return 'nothing'
  return code === undefined ? String(status) : `${status} ${code}`
}

export function judge(on: WatchedService, seen: Observation, expected: Expected, line: string): void {
  const { during, before, after, outcomes, baselineMs, neighbour } = seen
  assert.ok(on.isAlive(), `the process lives: ${on.faults().join('\n')}\n${line}`)
  const wrong = outcomes.find((each) => !isExpected(expected.answers, each))
  const unexpected = wrong && `${answerOf(wrong)} ${wrong.text.slice(0, 300)}`
  assert.equal(unexpected, undefined, `answers are ${expected.answers.join(' or ')}\n${line}`)
  const latest = (expected.limitMs ?? 0) + ANSWER_MARGIN_MS + during.starvedMs
  assert.ok(longest(outcomes) <= latest, `every answer comes within ${latest.toFixed(0)} ms\n${line}`)
  judgePause(seen, line)
  assert.ok(
    neighbour.length > 0 && neighbour.every(({ status }) => status === 200),
    `others are answered\n${line}`,
  )
  const patient = NEIGHBOUR_MARGIN_MS + PAUSES_OF_BASELINE * baselineMs + during.starvedMs
  assert.ok(longest(neighbour) <= patient, `others are answered at once\n${line}`)
  if (expected.cpuMs !== undefined)
    assert.ok(during.cpuMs - before.cpuMs <= expected.cpuMs, `it takes ${expected.cpuMs} ms of CPU\n${line}`)
  if (expected.peakMb !== undefined)
    assert.ok(during.peakRssMb - before.rssMb <= expected.peakMb, `memory stays bounded\n${line}`)
  assert.ok(!grown(before, after), `memory is back to its level\n${line}`)
}

/** What a busy machine adds is not held against the service. */
export function judgePause(
  { during, baselineMs }: Pick<Observation, 'during' | 'baselineMs'>,
  line: string,
): void {
  const most = Math.max(MAX_PAUSE_MS, PAUSES_OF_BASELINE * baselineMs)
  assert.ok(during.ownPauseMs <= most, `no pause is longer than ${most.toFixed(0)} ms\n${line}`)
}

function isExpected(answers: readonly string[], { status, code }: Pick<Outcome, 'status' | 'code'>): boolean {
  return answers.some((each) => each === String(status) || each === `${status} ${code}`)
}

export function longest(outcomes: readonly Pick<Outcome, 'ms'>[]): number {
  return outcomes.reduce((most, { ms }) => Math.max(most, ms), 0)
}

export function median(outcomes: readonly Pick<Outcome, 'ms'>[]): number {
  return quantile(outcomes, 0.5)
}

export function quantile(outcomes: readonly Pick<Outcome, 'ms'>[], part: number): number {
  const sorted = outcomes.map(({ ms }) => ms).sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function signed(number: number): string {
  return `${number < 0 ? '' : '+'}${number.toFixed(0)}`
}
