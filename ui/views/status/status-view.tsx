/** Status: rates, latencies, store and process, read from `/metrics` every two seconds; and a try at locks. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { noteFailure, useLoaded } from '../../app/loading.ts'
import { client } from '../../app/session.ts'
import { asObject } from '../../client/data-client.ts'
import { textOf } from '../../client/json.ts'
import { Failure, Progress } from '../../parts/notices.tsx'
import { Locks } from './locks.tsx'
import { type Point, type Reading, parseMetrics, pointBetween, routeFacts } from './metrics.ts'
import { Plot } from './plot.tsx'
import { SlowRequests } from './slow-requests.tsx'
import { slowFacts } from './slow.ts'

const EVERY_MS = 2_000
/** Five minutes. */
const MAX_POINTS = 150

const PLOTS: readonly {
  readonly title: string
  readonly unit: string
  readonly of: (point: Point) => number
}[] = [
  { title: 'Requests', unit: 'per s', of: ({ requests }) => requests },
  { title: 'Server errors', unit: 'per s', of: ({ failures }) => failures },
  { title: 'Mean latency', unit: 'ms', of: ({ latencyMs }) => latencyMs },
  { title: '95th percentile', unit: 'ms', of: ({ p95Ms }) => p95Ms },
  { title: 'Store, mean', unit: 'ms', of: ({ storeMs }) => storeMs },
  { title: 'Event loop lag', unit: 'ms', of: ({ lagMs }) => lagMs },
  { title: 'Memory', unit: 'MiB', of: ({ memoryMb }) => memoryMb },
  { title: 'Processor', unit: '%', of: ({ cpuPercent }) => cpuPercent },
]

export function StatusView(): JSX.Element {
  const { reading, points, failure } = useReadings()
  const version = useLoaded(() => client.send('GET', '/version'), [])
  const ready = useLoaded(() => client.send('GET', '/ready'), [])
  const { version: number, node } = asObject(version.value)
  return (
    <section class="page">
      <header class="row">
        <h1>Status</h1>
        <span class={`badge ${ready.failure === undefined ? 'active' : 'failing'}`}>
          {ready.failure === undefined ? 'ready' : 'not ready'}
        </span>
        <span class="hint">
          Smalt {textOf(number)}, Node.js {textOf(node)}
        </span>
      </header>
      {failure !== undefined && <Failure failure={failure} />}
      {!reading && failure === undefined && <Progress label="Reading metrics" />}
      <div class="plots">
        {PLOTS.map(({ title, unit, of }) => (
          <Plot key={title} title={title} unit={unit} values={points.map(of)} />
        ))}
      </div>
      <SlowRequests />
      {reading && <Slow reading={reading} />}
      {reading && <Routes reading={reading} />}
      <Locks />
    </section>
  )
}

function useReadings(): { reading: Reading | undefined; points: readonly Point[]; failure: unknown } {
  const [reading, setReading] = useState<Reading>()
  const [points, setPoints] = useState<readonly Point[]>([])
  const [failure, setFailure] = useState<unknown>()
  useEffect(() => {
    const aborting = new AbortController()
    let previous: Reading | undefined
    const read = async (): Promise<void> => {
      try {
        const text = await client.metrics(aborting.signal)
        const next = { at: performance.now(), samples: parseMetrics(text) }
        const earlier = previous
        if (earlier) setPoints((before) => [...before, pointBetween(earlier, next)].slice(-MAX_POINTS))
        previous = next
        setReading(next)
        setFailure(undefined)
      } catch (error) {
        if (aborting.signal.aborted) return
        noteFailure(error)
        setFailure(error)
      }
    }
    void read()
    const timer = setInterval(() => void read(), EVERY_MS)
    return () => {
      aborting.abort()
      clearInterval(timer)
    }
  }, [])
  return { reading, points, failure }
}

function Routes({ reading }: { readonly reading: Reading }): JSX.Element {
  return (
    <section>
      <h2>Routes since the start</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Routes">
        <table>
          <thead>
            <tr>
              <th scope="col">Route</th>
              <th scope="col">Requests</th>
              <th scope="col">Refused or failed</th>
              <th scope="col">Mean</th>
            </tr>
          </thead>
          <tbody>
            {routeFacts(reading)
              .slice(0, 40)
              .map(({ route, count, failures, meanMs }) => (
                <tr key={route}>
                  <th scope="row">
                    <code>{route}</code>
                  </th>
                  <td>{count.toLocaleString('en')}</td>
                  <td>{failures.toLocaleString('en')}</td>
                  <td>{meanMs.toFixed(2)} ms</td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function Slow({ reading }: { readonly reading: Reading }): JSX.Element {
  const facts = slowFacts(reading).slice(0, 20)
  return (
    <section>
      <h2>Slow routes since the start</h2>
      <p class="hint">
        {facts.length === 0
          ? 'Nothing took longer than a tenth of a second.'
          : 'How many took long, by route and by operation of the store.'}
      </p>
      {facts.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Slow">
          <table>
            <thead>
              <tr>
                <th scope="col">Route or store operation</th>
                <th scope="col">All</th>
                <th scope="col">Over 0.1 s</th>
                <th scope="col">Over 1 s</th>
                <th scope="col">95th percentile</th>
              </tr>
            </thead>
            <tbody>
              {facts.map(({ name, count, overTenth, overSecond, p95Seconds }) => (
                <tr key={name}>
                  <th scope="row">
                    <code>{name}</code>
                  </th>
                  <td>{count.toLocaleString('en')}</td>
                  <td>{overTenth.toLocaleString('en')}</td>
                  <td>{overSecond.toLocaleString('en')}</td>
                  <td>{p95Seconds === undefined ? 'over 30 s' : `at most ${p95Seconds * 1_000} ms`}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
