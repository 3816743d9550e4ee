/**
 * Finds of the same shape are prepared once: the second request of a shape caches the plan, with parameters
 * for the literals of the query; later requests only bind their literals. Stores cache the SQL of such a plan
 * in the same way.
 */
import type { Caller } from '../../../access/caller.ts'
import { ServiceError } from '../../../base/errors.ts'
import { memoized } from '../../../base/memo.ts'
import type { PreparedFind } from './bind-find.ts'

interface Lookup {
  /** Prepared finds are dropped with the metadata they were planned by. */
  readonly metadata: object
  /** Access depends on the caller, so nothing is shared between callers. */
  readonly caller: Caller
  readonly key: string
}

/** Undefined for the first request of a shape, and for shapes that cannot be prepared. */
export function preparedOnce(
  { metadata, caller, key }: Lookup,
  prepare: () => PreparedFind | undefined,
): PreparedFind | undefined {
  const cache = cacheOf(metadata)
  const known = cache.get(caller, key)
  if (typeof known === 'object') return known
  if (known === 'unfit') return undefined
  if (known === undefined) {
    cache.set(caller, key, 'seen')
    return undefined
  }
  const prepared = refusedAsUnfit(prepare)
  cache.set(caller, key, prepared ?? 'unfit')
  return prepared
}

/** A refused find counts as unfit: the request is then planned on its own and reports the error for its own values. */
function refusedAsUnfit(prepare: () => PreparedFind | undefined): PreparedFind | undefined {
  try {
    return prepare()
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}

type Cached = 'seen' | 'unfit' | PreparedFind

interface Cache {
  get(caller: Caller, key: string): Cached | undefined
  set(caller: Caller, key: string, cached: Cached): void
}

const cacheOf = memoized((_metadata: object): Cache => {
  let byCaller = new WeakMap<Caller, Map<string, Cached>>()
  let characters = 0
  return {
    get: (caller, key) => byCaller.get(caller)?.get(key),
    set(caller, key, cached) {
      // A shape is set twice, as seen and then as prepared; its key is stored once.
      if (byCaller.get(caller)?.has(key) !== true) characters += key.length
      if (characters > MAX_CHARACTERS) {
        byCaller = new WeakMap()
        characters = key.length
      }
      const own = byCaller.get(caller) ?? new Map<string, Cached>()
      byCaller.set(caller, own.set(key, cached))
    },
  }
})

/** Limit for the keys of all callers, whose lengths stand for the sizes of the finds. A full cache is emptied. */
const MAX_CHARACTERS = 500_000
