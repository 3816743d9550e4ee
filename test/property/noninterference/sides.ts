/** Two whole services behind two real servers, alike in everything but the documents they are going to hold. */
import { Agent } from 'node:http'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { openMode } from '../../../src/auth/open.ts'
import { logTo } from '../../../src/http/observe/log.ts'
import { createMetrics } from '../../../src/http/observe/metrics.ts'
import { startServer } from '../../../src/http/server.ts'
import { openService } from '../../../src/service/open.ts'
import type { Service } from '../../../src/service/service.ts'
import { type Answer, type Ask, askServer } from '../../support/server.ts'
import { failLoudly } from '../../support/service.ts'
import { freshPlace, storeKind } from '../../support/store-kind.ts'
import { useDeterministicIds } from './deterministic-ids.ts'
import { APART } from './world.ts'

/** Puts something between the server and the service: how the harness itself is tried. */
export type Wrap = (service: Service) => Service

export interface Side {
  /** Where its documents are, but for those that are apart. */
  readonly location: string
  readonly ask: (method: string, path: string, ask?: Ask) => Promise<Answer>
}

export interface Sides extends AsyncDisposable {
  readonly a: Side
  readonly b: Side
  /** Sets the clock of both sides forward to the same time. */
  readonly tick: () => void
  /** A name that no entity has yet, on either side. */
  readonly newEntity: () => string
}

/** Small enough that what the caller sees of all documents sometimes is too much. */
const LIMITS = { ...DEFAULT_LIMITS, resultBytes: 8_000 }
const START = Date.UTC(2030, 0, 1)

export async function openSides(wrap: Wrap = (service) => service): Promise<Sides> {
  await using stack = new AsyncDisposableStack()
  let seconds = 0
  const now = (): Date => new Date(START + seconds * 1000)
  const [a, b] = [await openSide(now, wrap, stack), await openSide(now, wrap, stack)]
  // from here on: names of places stay what chance made them
  stack.use(useDeterministicIds())
  let entities = 0
  const owned = stack.move()
  return {
    a,
    b,
    tick: () => void seconds++,
    newEntity: () => `entity${storeKind()}${entities++}`,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function openSide(now: () => Date, wrap: Wrap, stack: AsyncDisposableStack): Promise<Side> {
  const { location } = stack.use(await freshPlace())
  const apart = stack.use(await freshPlace(APART.backend))
  const service = stack.use(
    await openService({
      datasources: [
        { name: 'default', location },
        { name: APART.datasource, location: apart.location },
      ],
      limits: LIMITS,
      onInternalError: failLoudly,
      now,
    }),
  )
  const server = await startServer({
    service: wrap(service),
    limits: LIMITS,
    auth: openMode(),
    log: logTo({ write: failLoudly }, 'error'),
    metrics: createMetrics(),
    host: '127.0.0.1',
    port: 0,
    overload: { isOverloaded: () => false, close: () => undefined },
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  stack.defer(() => server.close())
  stack.defer(() => agent.destroy())
  return {
    location,
    ask: (method, path, ask = {}) => askServer({ port: server.port, agent }, method, path, ask),
  }
}
