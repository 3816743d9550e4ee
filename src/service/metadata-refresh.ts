/** Keeps metadata in step with the store: read at the start, however long that takes, and again when it changed. */
import { ServiceError } from '../base/errors.ts'
import type { Registry } from '../metadata/registry.ts'
import type { Database } from '../store/database.ts'
import { ensureSavedSearch } from './search/search-entity.ts'

interface Upkeep extends AsyncDisposable {
  /**
   * Settles after the first attempt to read metadata, or when that takes too long to wait for. A store out of reach is
   * no failure: it is tried again until it answers.
   */
  readonly begun: Promise<void>
  /** Throws why there is no metadata yet. */
  requireLoaded(): void
}

interface UpkeepOptions {
  readonly store: Pick<Database, 'kind' | 'metadata'>
  readonly registry: Registry
  /** Whether any datasource is one that others change too, or that can be out of reach. */
  readonly isShared: boolean
  readonly onInternalError: (error: unknown) => void
}

/** Half of the second within which every process is to see a change. */
const INTERVAL_MS = 500
const LONGEST_WAIT_MS = 2_000
/** Beyond this the service starts without metadata, and says so. */
const PATIENCE_MS = 10_000

export function refreshMetadata({ store, registry, isShared, onInternalError }: UpkeepOptions): Upkeep {
  let isBegun = false
  let isLoaded = false
  let problem: unknown
  let failures = 0
  let told = ''

  const rounds = createRounds(async () => {
    if (!isLoaded) {
      // in this order, since another process may be the one that makes the entity
      await ensureSavedSearchOnce(registry, store.kind)
      await registry.reload()
      isLoaded = true
      problem = undefined
    } else if (registry.isPartial() || (await store.metadata.readEpoch()) !== registry.epoch()) {
      await registry.reload()
    }
  }, onRound)

  /** How long to wait for the next round; undefined where nobody else can change anything. */
  function onRound(error: unknown): number | undefined {
    failures = error === undefined ? 0 : failures + 1
    if (!isLoaded) problem = error
    if (error === undefined) told = ''
    else if (isUnforeseen(error)) reportError(error)
    if (isLoaded) return isShared ? INTERVAL_MS : undefined
    return Math.min(INTERVAL_MS * 2 ** (failures - 1), LONGEST_WAIT_MS)
  }

  /** Answers say that a store is out of reach, and only the log may say why; anything else at the very start ends it. */
  function isUnforeseen(error: unknown): boolean {
    return isUnavailable(error) || isBegun
  }

  /** What fails every half second is told of once, until it is over. */
  function reportError(error: unknown): void {
    if (String(error) === told) return
    told = String(error)
    onInternalError(error)
  }

  async function begin(): Promise<void> {
    await within(PATIENCE_MS, rounds.first)
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
  /** Does not wait any longer for the next one. */
  readonly hasten: () => void
}

/** Work that is repeated, never twice at a time; `onRound` learns how it ended and says when it is due again. */
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

/** As soon as the work is done, and at the latest when the time is over. */
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

/** Where several processes start at once on an empty store, one of them makes the entity and the others find it. */
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

function isUnavailable(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'crud:Unavailable'
}
