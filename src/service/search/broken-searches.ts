/** Saved searches that run today, and would fail after a change of metadata. */
import type { Caller } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json/json.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import { yieldEvery } from '../../base/work/yield-every.ts'
import { type Work, during } from '../../base/work/work.ts'
import type { Deps } from '../deps.ts'
import { planFindRequest } from '../read/plan-find.ts'
import { readFind } from '../request/request.ts'
import { exampleValues } from './parameters.ts'
import { findRequest, isFor, searches } from './saved-search.ts'

export interface Change {
  readonly caller: Caller
  readonly entity: string
  /** The versions that change or go. */
  readonly versions: readonly string[]
  /** With the metadata of today. */
  readonly before: Deps
  /** With the metadata as it would be. */
  readonly after: Deps
}

export async function brokenSearches(change: Change, work: Work | undefined): Promise<Json> {
  const broken: Json[] = []
  const rest = yieldEvery(SLICE_MS)
  const found = await readableSearches(change, work)
  if (!found) return { complete: false, broken }
  const usable = usableVersions(change)
  for (const text of found) {
    await rest()
    const check = (): JsonObject | undefined =>
      brokenBy({ ...change, usable }, parseTrusted(text) as JsonObject)
    const each = work ? during(work, check) : check()
    if (each && broken.length === MAX_LISTED) return { complete: false, broken }
    if (each) broken.push(each)
  }
  return { complete: true, broken }
}

/** None where the caller may not read saved searches, or their entity was removed; undefined where they are too many. */
async function readableSearches({ caller, entity, before }: Change, work: Work | undefined) {
  const target = { entity, ...(work && { work }) }
  try {
    const { processed = [] } = await searches(before, caller, { target, overrides: {} })
    return processed
  } catch (error) {
    if (!isFailure(error)) throw error
    return error.code === 'crud:LimitExceeded' || error.code === 'crud:Unavailable' ? undefined : []
  }
}

const SLICE_MS = 10
const MAX_LISTED = 100

/** The search is planned as the caller would run it, for the default version and for each version that changes. */
function brokenBy(change: Change & { readonly usable: Usable }, saved: JsonObject): JsonObject | undefined {
  const { versions, before, after, usable } = change
  const broken = (version: string | undefined, msg: string): JsonObject => ({
    name: saved['name'] ?? null,
    version: version ?? null,
    msg,
  })
  if (isForOneOf(saved, usable.before) && !isForOneOf(saved, usable.after))
    return broken(undefined, 'no version that it is for would be left')
  const changed = versions.filter((each) => usable.before.includes(each) && usable.after.includes(each))
  for (const version of [undefined, ...changed]) {
    const is = failureOf(saved, after, { ...change, version })
    // one that fails in the same way today is not broken by the change
    if (is !== undefined && is !== failureOf(saved, before, { ...change, version }))
      return broken(version, is)
  }
  return undefined
}

/** The versions that are not disabled. */
interface Usable {
  readonly before: readonly string[]
  readonly after: readonly string[]
}

function usableVersions({ entity, before, after }: Change): Usable {
  const usableIn = ({ versionsOf, schemaOf }: Deps): readonly string[] =>
    versionsOf(entity).filter((version) => failureIn(() => schemaOf(entity, version)) === undefined)
  return { before: usableIn(before), after: usableIn(after) }
}

function isForOneOf(saved: JsonObject, versions: readonly string[]): boolean {
  return versions.some((version) => isFor(saved, version))
}

interface Run {
  readonly caller: Caller
  readonly entity: string
  readonly version: string | undefined
}

/** The message of the error; undefined where it runs, and where it is no search for this version. */
function failureOf(saved: JsonObject, deps: Deps, { caller, entity, version }: Run): string | undefined {
  return failureIn(() => {
    const schema = deps.schemaOf(entity, version)
    if (!isFor(saved, schema.version)) return
    const values = exampleValues(saved['parameters'])
    const target = { entity, version: schema.version }
    planFindRequest(deps, caller, readFind(findRequest(saved, values, deps), target, deps))
  })
}

function failureIn(attempt: () => unknown): string | undefined {
  try {
    attempt()
    return undefined
  } catch (error) {
    if (isFailure(error)) return error.message
    throw error
  }
}

/** The time limit is that of the report, not of a search. */
function isFailure(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code !== 'store-crud:Timeout'
}
