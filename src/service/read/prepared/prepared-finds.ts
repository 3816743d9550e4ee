/**
 * Finds of the same shape are prepared once: the second request of a shape caches the plan, with parameters for the
 * literals of the query, and later requests only bind theirs. Stores cache the SQL of such a plan in the same way.
 */
import type { Caller } from '../../../access/caller.ts'
import { ServiceError } from '../../../base/errors.ts'
import { type Json, isArray } from '../../../base/json/json.ts'
import { memoized } from '../../../base/memo.ts'
import type { Arguments, Parameter } from '../../../lang/operand.ts'
import { parametersIn } from '../../../lang/parameters.ts'
import type { PlannedFind } from '../plan-find.ts'

/** A planned find with parameters in its query. */
export interface PreparedFind {
  readonly find: PlannedFind
  readonly parameters: readonly Parameter[]
}

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

/** Undefined where a literal has no parameter, so that nothing would check it, or where two fields cast it differently. */
export function preparedFrom(find: PlannedFind, literals: number): PreparedFind | undefined {
  const { query } = find.plan.read
  const parameters = new Map<number, Parameter>()
  for (const parameter of query ? parametersIn(query) : []) {
    const known = parameters.get(parameter.param)
    if (known && known.type !== parameter.type) return undefined
    parameters.set(parameter.param, parameter)
  }
  if (parameters.size !== literals) return undefined
  return { find, parameters: [...parameters.values()].sort((a, b) => a.param - b.param) }
}

/** Undefined where a literal is not of its field's type: the request is refused when it is planned by itself. */
export function bindFind(
  { find, parameters }: PreparedFind,
  literals: readonly Json[],
): PlannedFind | undefined {
  const cast = castArguments(parameters, literals)
  if (!cast) return undefined
  const { plan } = find
  return { ...find, plan: { ...plan, read: { ...plan.read, arguments: cast } } }
}

function castArguments(parameters: readonly Parameter[], literals: readonly Json[]): Arguments | undefined {
  const cast: Json[] = []
  for (const [i, { type }] of parameters.entries()) {
    const literal = literals[i]!
    const value = isArray(literal) ? castAll(literal, type!) : type!.cast(literal)
    if (value === undefined) return undefined
    cast.push(value)
  }
  return cast
}

function castAll(values: readonly Json[], type: NonNullable<Parameter['type']>): Json | undefined {
  const cast: Json[] = []
  for (const each of values) {
    const value = type.cast(each)
    if (value === undefined) return undefined
    cast.push(value)
  }
  return cast
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
