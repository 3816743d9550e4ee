/**
 * `npm run soak -- --minutes N`: inserts, updates, deletes, finds of many shapes and streams on one service, and the slope of
 * its memory. What grows without end shows as a slope that stays positive after the first minutes.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { endTogether } from './children.ts'
import { item, itemMetadata } from './documents.ts'
import { define, memoryOf } from './fill.ts'
import type { StoreName } from './figure.ts'
import { openPlace } from './open-place.ts'
import { type Point, slopeOf } from './slope.ts'

const HELP = `npm run soak -- [options]
  --minutes N     how long; 5 when absent
  --store NAME    sqlite (when absent) or postgres
  --json          prints JSON
`
const ENTITY = 'soaked'
const FIELDS = ['sku', 'name', 'status', 'customer', 'email', 'city', 'zip', 'country', 'channel', 'locale']
const CLIENTS = 8
const DOCUMENTS = 20_000
const SAMPLE_MS = 5_000
/** Caches fill and code is compiled in the beginning, so the slope begins later. */
const WARM_SHARE = 0.4

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    store: { type: 'string', default: 'sqlite' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) process.stdout.write(HELP)
else await main()

async function main(): Promise<void> {
  endTogether()
  const minutes = Number(values.minutes)
  if (!(minutes > 0) || !['sqlite', 'postgres'].includes(values.store)) {
    process.stderr.write(HELP)
    process.exit(2)
  }
  await using place = await openPlace(values.store as StoreName)
  await using server = await place.startSubject()
  await define(server, ENTITY, itemMetadata(ENTITY))
  const until = performance.now() + minutes * 60_000
  const counts = { requests: 0, refused: 0 }
  const clients = Array.from({ length: CLIENTS }, (_, i) => load(server.api, { client: i, until, counts }))
  const samples = await sample(server, until)
  await Promise.all(clients)
  report(samples, { minutes, ...counts })
}

interface Sample {
  readonly minute: number
  readonly residentMegabytes: number
  readonly heapMegabytes: number
}

async function sample(server: { readonly api: string }, until: number): Promise<readonly Sample[]> {
  const began = performance.now()
  const samples: Sample[] = []
  while (performance.now() < until) {
    await pause(SAMPLE_MS)
    const minute = (performance.now() - began) / 60_000
    const memory = await memoryOf(server)
    samples.push({ minute, ...memory })
    const text = `${minute.toFixed(1)} min   resident ${memory.residentMegabytes.toFixed(0)} MB   heap ${memory.heapMegabytes.toFixed(0)} MB`
    if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text}`)
  }
  return samples
}

interface Loading {
  readonly client: number
  readonly until: number
  readonly counts: { requests: number; refused: number }
}

/** The number of documents stays about the same: each client deletes what it inserted some time ago. */
async function load(api: string, { client, until, counts }: Loading): Promise<void> {
  for (let i = 0; performance.now() < until; i++) {
    const [method, path, body] = requestOf(client, i)
    const headers = {
      'content-type': 'application/json',
      ...(i % 50 === 7 && { accept: 'application/x-ndjson' }),
    }
    const response = await fetch(`${api}${path}`, { method, headers, body: JSON.stringify(body) })
    await response.arrayBuffer()
    counts.requests++
    if (response.status === 503) {
      counts.refused++
      await pause(1_000)
    } else if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`)
  }
}

function requestOf(client: number, i: number): readonly [method: string, path: string, body: unknown] {
  const perClient = DOCUMENTS / CLIENTS
  const batch = (n: number): string => `soak-${client}-${n}`
  const at = Math.floor(i / 10)
  switch (i % 10) {
    case 0: {
      const data = Array.from({ length: 50 }, (_, k) => ({
        ...item(at * 50 + k, DOCUMENTS),
        note: batch(at),
      }))
      return ['PUT', `/data/insert/${ENTITY}`, { data }]
    }
    case 1: {
      const old = batch(at - perClient / 50)
      return ['POST', `/data/delete/${ENTITY}`, { query: { field: 'note', op: '=', rvalue: old } }]
    }
    case 2: {
      const query = { field: 'note', op: '=', rvalue: batch(at) }
      return ['POST', `/data/update/${ENTITY}`, { query, update: { $add: { quantity: 1 } } }]
    }
    default:
      return ['POST', `/data/find/${ENTITY}`, findOf(i)]
  }
}

/** Shapes differ in fields, operators, number of conditions, sort and page. */
function findOf(i: number): unknown {
  // most are served by an index
  const led = { field: 'email', op: '=', rvalue: `v${i}` }
  const conditions = Array.from({ length: 1 + (i % 4) }, (_, k) => ({
    field: FIELDS[(i * 7 + k * 3) % FIELDS.length]!,
    op: ['=', '>=', '<', '!='][(i + k) % 4]!,
    rvalue: `v${i % 1_000}`,
  }))
  return {
    query: i % 10 < 9 ? { $and: [led, ...conditions] } : { $or: conditions },
    projection: [{ field: FIELDS[i % FIELDS.length]! }, { field: '_id' }],
    sort: { [FIELDS[(i * 3) % FIELDS.length]!]: i % 2 === 0 ? '$asc' : '$desc' },
    range: [0, i % 40],
  }
}

interface Facts {
  readonly minutes: number
  readonly requests: number
  readonly refused: number
}

function report(samples: readonly Sample[], facts: Facts): void {
  const settled = samples.filter(({ minute }) => minute >= facts.minutes * WARM_SHARE)
  const slope = (pick: (sample: Sample) => number): number =>
    slopeOf(settled.map((each): Point => [each.minute, pick(each)]))
  const outcome = {
    ...facts,
    residentMegabytesPerMinute: slope((each) => each.residentMegabytes),
    heapMegabytesPerMinute: slope((each) => each.heapMegabytes),
    last: samples.at(-1),
  }
  if (values.json) process.stdout.write(`${JSON.stringify({ ...outcome, samples }, undefined, 2)}\n`)
  else {
    const { last } = outcome
    process.stdout.write(
      `${facts.requests.toLocaleString('en')} requests in ${facts.minutes} minutes, ${facts.refused} answered 503\n` +
        `resident memory   ${last?.residentMegabytes.toFixed(0)} MB   slope ${outcome.residentMegabytesPerMinute.toFixed(1)} MB a minute\n` +
        `heap              ${last?.heapMegabytes.toFixed(0)} MB   slope ${outcome.heapMegabytesPerMinute.toFixed(1)} MB a minute\n` +
        `slopes are those after the first ${WARM_SHARE * 100} % of the time\n`,
    )
  }
}
