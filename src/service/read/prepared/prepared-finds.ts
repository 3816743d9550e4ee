/**
 * Finds of the same shape are prepared once: the second request of a shape caches the plan, with parameters for the
 * literals of the query, and later requests only bind theirs. Stores cache the SQL of such a plan in the same way.
 */
import type { Caller } from '../../../access/caller.ts'
import { ServiceError } from '../../../base/errors.ts'
import { memoized } from '../../../base/memo.ts'
import type { PreparedFind } from './bind-find.ts'

interface Lookup {
  /** Prepared finds end with the metadata they were made by. */
  readonly metadata: object
  /** What may be read depends on the caller, so that nothing is shared between callers. */
  readonly caller: Caller
  readonly key: string
}

/** Undefined at the first request of a shape, and for shapes that cannot be prepared. */
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

/** Why a find is refused is for the request itself to find out, with its own values. */
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
      characters += key.length
      if (characters > MAX_CHARACTERS) {
        byCaller = new WeakMap()
        characters = key.length
      }
      const own = byCaller.get(caller) ?? new Map<string, Cached>()
      byCaller.set(caller, own.set(key, cached))
    },
  }
})

/** Of the keys of all callers, which tell how large the finds are. A full cache starts again from empty. */
const MAX_CHARACTERS = 500_000
