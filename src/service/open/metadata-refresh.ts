/** Keeps metadata current: loads it at the start, with retries, and reloads it after every change in the store. */
import { ServiceError, isUnavailable } from '../../base/errors.ts'
import type { Registry } from '../../metadata/registry.ts'
import type { Database } from '../../store/database.ts'
import { ensureSavedSearch } from '../search/search-entity.ts'

interface MetadataRefresh extends AsyncDisposable {
  /**
   * Resolves after the first attempt to load metadata, or when that attempt takes too long. An unreachable
   * store is not a failure: loading is retried until it succeeds.
   */
  readonly begun: Promise<void>
  /** Throws the reason why metadata is not loaded yet. */
  requireLoaded(): void
}

interface MetadataRefreshOptions {
  readonly store: Pick<Database, 'kind' | 'metadata'>
  readonly registry: Registry
  /** Whether another process can change a datasource, or a datasource can be unreachable. */
  readonly isShared: boolean
  readonly onInternalError: (error: unknown) => void
}

/** Half of the second within which every process has to see a change. */
const INTERVAL_MS = 500
const LONGEST_WAIT_MS = 2_000
/** After this time the service starts without metadata and reports itself as not ready. */
const MAX_STARTUP_WAIT_MS = 10_000

export function refreshMetadata({
  store,
  registry,
  isShared,
  onInternalError,
}: MetadataRefreshOptions): MetadataRefresh {
  let isBegun = false
  let isLoaded = false
  let problem: unknown
  let failures = 0
  let lastReported = ''

  const rounds = createRounds(async () => {
    if (!isLoaded) {
      // In this order, because another process may be the one that creates the entity.
      await ensureSavedSearchOnce(registry, store.kind)
      await registry.reload()
      isLoaded = true
      problem = undefined
    } else if (registry.isPartial() || (await store.metadata.readEpoch()) !== registry.epoch()) {
      await registry.reload()
    }
  }, onRound)

  /** Delay until the next round; undefined if no other process can change anything. */
  function onRound(error: unknown): number | undefined {
    failures = error === undefined ? 0 : failures + 1
    if (!isLoaded) problem = error
    if (error === undefined) lastReported = ''
    else if (isUnforeseen(error)) reportError(error)
    if (isLoaded) return isShared ? INTERVAL_MS : undefined
    return Math.min(INTERVAL_MS * 2 ** (failures - 1), LONGEST_WAIT_MS)
  }

  /**
   * Responses only report that a store is unreachable, so the log needs the cause. Any other error in the
   * first round makes the start fail, which reports it.
   */
  function isUnforeseen(error: unknown): boolean {
    return isUnavailable(error) || isBegun
  }

  /** A failure that repeats every half second is logged once, until it is over. */
  function reportError(error: unknown): void {
    if (String(error) === lastReported) return
    lastReported = String(error)
    onInternalError(error)
  }

  async function begin(): Promise<void> {
    await within(MAX_STARTUP_WAIT_MS, rounds.first)
    isBegun = true
    if (problem !== undefined && !isUnavailable(problem)) throw problem
  }

  store.metadata.onMetadataChange(rounds.hasten)
  return {
    begun: begin(),
    requireLoaded() {
      if (!isLoaded) throw problem ?? new ServiceError('crud:Unavailable', 'metadata is being read')
    },
    [Symbol.asyncDispose]: () => rounds[Symbol.asyncDispose](),
  }
}

interface Rounds extends AsyncDisposable {
  /** Settles after the first round. */
  readonly first: Promise<void>
  /** Starts the next round immediately. */
  readonly hasten: () => void
}

/** Repeats work, never twice at a time. `onRound` receives the outcome and returns the delay until the next round. */
function createRounds(work: () => Promise<void>, onRound: (error: unknown) => number | undefined): Rounds {
  let isStopped = false
  let isHastened = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined

  async function round(): Promise<void> {
    clearTimeout(timer)
    isHastened = false
    const delay = onRound(await failureOf(work))
    running = undefined
    if (isStopped) return
    if (isHastened) start()
    else if (delay !== undefined) timer = setTimeout(start, delay).unref()
  }

  function start(): void {
    running ??= round()
  }

  start()
  return {
    first: running!,
    hasten() {
      isHastened = true
      if (!isStopped) start()
    },
    async [Symbol.asyncDispose]() {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}

/** Resolves when the work is done, at the latest after the time limit. */
async function within(limitMs: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, limitMs)
  await Promise.race([work, promise])
  clearTimeout(timer)
}

async function failureOf(work: () => Promise<void>): Promise<unknown> {
  try {
    await work()
    return undefined
  } catch (error) {
    return error
  }
}

/** If several processes start at once on an empty store, one of them creates the entity and the others find it. */
async function ensureSavedSearchOnce(registry: Registry, backend: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await ensureSavedSearch(registry, backend)
      return
    } catch (error) {
      const isOvertaken = error instanceof ServiceError && error.code === 'metadata:UpdateInvalidatesMetadata'
      if (!isOvertaken || attempt === ATTEMPTS) throw error
    }
  }
}

const ATTEMPTS = 5
