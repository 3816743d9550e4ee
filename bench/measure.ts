/** Subject and limit in turns, so that what else the machine does meets both; of the turns the medians count. */
import type { Load, Server } from './children.ts'
import type { Sent } from './documents.ts'
import type { Against, Figure } from './figure.ts'
import type { Result } from './load.ts'

export interface Side {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Processor time of the server for one answer: what counts most while the machine does other things, too. */
  readonly cpuMicros: number
}

type Turn = Result & { readonly cpuMicros: number }

export interface Measured {
  readonly name: string
  readonly title: string
  readonly connections: number
  readonly subject: Side
  readonly limit: Side
  /** What the limit is. */
  readonly against: string
  /** The median of the ratios of each turn, and how far they lie apart. */
  readonly ratio: number
  readonly ratios: readonly [least: number, greatest: number]
  readonly errors: number
  readonly problem?: string
  /** The greatest share of a core that the load generator took; near 1 it is what was measured. */
  readonly loadCpu: number
}

export interface Bench {
  readonly load: Load
  readonly subject: Server
  readonly limit: Server
  /** The layer over a plain table, where a figure is measured against it. */
  readonly tables?: Server
  /** Of each side. */
  readonly seconds: number
}

const TURNS = 5

export async function measure(figure: Figure, bench: Bench): Promise<Measured> {
  const results: { readonly subject: Turn[]; readonly limit: Turn[] } = { subject: [], limit: [] }
  for (let turn = 0; turn <= TURNS; turn++) {
    const subject = await measureSubject(figure, bench)
    const limit = await measureLimit(figure, bench)
    // what is compiled while it runs needs a few seconds to become what it will be
    if (turn === 0) continue
    results.subject.push(subject)
    results.limit.push(limit)
  }
  const all = [...results.subject, ...results.limit]
  const { name, title, connections, against, perRequest = 1 } = figure
  const subject = sideOf(results.subject, perRequest)
  const limit = sideOf(results.limit, perRequest)
  const problem = all.find((result) => result.problem !== undefined)?.problem
  return {
    name,
    title,
    connections,
    subject,
    limit,
    against: labelOf(against),
    ...ratiosOf(results),
    errors: all.reduce((sum, { errors }) => sum + errors, 0),
    ...(problem !== undefined && { problem }),
    loadCpu: Math.max(...all.map(({ cpu }) => cpu)),
  }
}

function ratiosOf({
  subject,
  limit,
}: {
  readonly subject: readonly Turn[]
  readonly limit: readonly Turn[]
}) {
  const ratios = subject.map(({ perSecond }, i) => perSecond / limit[i]!.perSecond)
  return { ratio: median(ratios), ratios: [Math.min(...ratios), Math.max(...ratios)] as const }
}

function labelOf(against: Against): string {
  switch (against.kind) {
    case 'bare':
      return against.label ?? 'limit'
    case 'tables':
      return 'table'
    case 'other':
      return against.label
    case 'undisturbed':
      return 'idle'
  }
}

async function measureSubject(figure: Figure, bench: Bench): Promise<Turn> {
  const { requests, against, connections } = figure
  const { subject } = bench
  if (against.kind !== 'undisturbed') return await run(bench, subject, { requests, connections })
  const [result, background] = await Promise.all([
    run(bench, subject, { requests, connections }),
    run(bench, subject, { requests: against.background, connections: 1 }),
  ])
  const { problem = background.problem } = result
  const errors = result.errors + background.errors
  return { ...result, errors, ...(problem !== undefined && { problem }) }
}

function measureLimit({ requests, against, connections }: Figure, bench: Bench): Promise<Turn> {
  switch (against.kind) {
    case 'bare':
      return run(bench, bench.limit, { requests: against.requests ?? requests, connections })
    case 'tables':
      return run(bench, bench.tables!, { requests, connections })
    case 'other':
      return run(bench, bench.subject, { requests: against.requests, connections })
    case 'undisturbed':
      return run(bench, bench.subject, { requests, connections })
  }
}

interface Asked {
  readonly requests: readonly Sent[]
  readonly connections: number
}

async function run({ load, seconds }: Bench, server: Server, asked: Asked): Promise<Turn> {
  const turn = seconds / TURNS
  const before = server.cpuMs()
  const { port } = server
  const result = await load.run({ ...asked, port, seconds: turn, warmupSeconds: Math.min(0.3, turn / 2) })
  return { ...result, cpuMicros: ((server.cpuMs() - before) * 1_000) / result.answers }
}

function sideOf(results: readonly Turn[], perRequest: number): Side {
  return {
    perSecond: median(results.map(({ perSecond }) => perSecond * perRequest)),
    p50Ms: median(results.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(results.map(({ p99Ms }) => p99Ms)),
    cpuMicros: median(results.map(({ cpuMicros }) => cpuMicros / perRequest)),
  }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]!
}
