/** Dry runs of metadata changes: the answer of the change, and what it would do to documents, indexes and access. */
import type { Caller } from '../../access/caller.ts'
import { type Json, type JsonObject, isArray, isObject } from '../../base/json/json.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import { DEFAULT_LIMITS } from '../../base/limits.ts'
import { yieldEvery } from '../../base/work/yield-every.ts'
import { type Work, during, spend } from '../../base/work/work.ts'
import type { Catalogue, Entity } from '../../metadata/catalogue.ts'
import type { OtherStores } from '../../metadata/other-stores.ts'
import type { MetadataStore, Registry } from '../../metadata/registry.ts'
import { presentDefinition } from '../../metadata/validate/validate-change.ts'
import { prepareDocument } from '../../schema/document.ts'
import { definedPart } from '../../schema/known.ts'
import { ANYONE_ELSE } from '../../schema/named-roles.ts'
import type { Collection, IndexDefinition, Schema } from '../../schema/schema.ts'
import {
  type UniqueIndexes,
  claimsOf,
  indexOfClaim,
  repeatedValues,
} from '../../store/layout/unique-claims.ts'
import type { Database } from '../../store/database.ts'
import type { MetadataService, Rehearsing } from '../service.ts'
import { accessOf } from './access-reports.ts'
import { rehearsing } from './rehearsal.ts'

interface ImpactDeps {
  readonly store: Database
  readonly others: OtherStores
  readonly storeIn: (datasource: string) => Database
  readonly registry: Registry
  readonly open: (store: MetadataStore, others: OtherStores) => Promise<Registry>
  readonly serve: (registry: Registry) => MetadataService
  /** The `_id`s that the caller may read. */
  readonly readable: (caller: Caller, entity: string, ids: readonly Json[]) => Promise<readonly Json[]>
  /** The saved searches that would fail with the metadata of the other registry. */
  readonly brokenSearches: (rehearsed: Registry, change: ChangedVersions) => Promise<Json>
}

interface ChangedVersions {
  readonly caller: Caller
  readonly entity: string
  readonly versions: readonly string[]
  readonly work: Work | undefined
}

export function rehearseMetadata(deps: ImpactDeps) {
  return async ({ caller, change, work }: Rehearsing): Promise<Json> => {
    const rehearsal = rehearsing(deps.store.metadata, deps.others)
    const rehearsed = await deps.open(rehearsal.store, rehearsal.others)
    const answer = await change(deps.serve(rehearsed))
    const wanted = rehearsal.wanted()
    const names = new Set(wanted?.entities.map(({ entity }) => entity))
    const entities: Json[] = []
    for (const name of names) {
      const versions = wanted!.entities
        .filter(({ entity }) => entity === name)
        .flatMap(({ schemas }) => schemas.map(({ version }) => version))
      const before = entityIn(deps.registry, name)
      entities.push({
        entity: name,
        indexes: indexChanges(before, entityIn(rehearsed, name)),
        documents: await violations(deps, rehearsed, { caller, name, versions, before, work }),
        dependents: dependentsOf(deps.registry, name),
        searches: await deps.brokenSearches(rehearsed, { caller, entity: name, versions, work }),
        access: accessChanges(deps.registry, rehearsed, { name, versions }),
      })
    }
    const dryRun = { changes: wanted !== undefined, entities }
    // A list has no room for a report.
    return isObject(answer) ? { ...answer, dryRun } : { metadata: answer, dryRun }
  }
}

function entityIn(registry: Registry, name: string): Entity | undefined {
  return (registry.current() as Catalogue).entities.get(name)
}

function indexChanges(before: Entity | undefined, after: Entity | undefined): JsonObject {
  const shown = ({ kind, language, unique, fields }: IndexDefinition): Json => ({
    ...(kind && { kind }),
    ...(language && { language }),
    unique,
    fields: fields.map(({ path }) => path),
  })
  return { build: newIndexes(before, after).map(shown), drop: newIndexes(after, before).map(shown) }
}

/** The indexes of `after` that `before` does not have. */
function newIndexes(before: Entity | undefined, after: Entity | undefined): readonly IndexDefinition[] {
  const [old, wanted] = [before, after].map(
    (entity) =>
      new Map((entity ? presentDefinition(entity).indexes : []).map((each) => [JSON.stringify(each), each])),
  ) as [Map<string, IndexDefinition>, Map<string, IndexDefinition>]
  return [...wanted].filter(([text]) => !old.has(text)).map(([, each]) => each)
}

interface Checking {
  readonly caller: Caller
  readonly name: string
  readonly versions: readonly string[]
  readonly before: Entity | undefined
  readonly work: Work | undefined
}

interface Problem {
  readonly version: string
  readonly errorCode: string
  readonly field: string
  count: number
  readonly ids: Json[]
}

/**
 * A check that takes longer than half of the time of a request ends early, and says so. Documents that repeat values of
 * a new unique index refuse the change.
 */
async function violations(deps: ImpactDeps, rehearsed: Registry, checking: Checking): Promise<JsonObject> {
  const { caller, name, versions, before, work } = checking
  const schemas = versions
    .map((version) => rehearsed.schemasOf(name).find((each) => each.version === version))
    .filter((each) => each !== undefined && each.status !== 'disabled') as readonly Schema[]
  const problems = new Map<string, Problem>()
  const unique = newIndexes(before, entityIn(rehearsed, name)).filter((each) => each.unique)
  const refuseRepeated = repetitionsIn(unique)
  let checked = 0
  let isComplete = true
  const until = performance.now() + (work?.timeLimitMs ?? DEFAULT_LIMITS.queryTimeMs) / 2
  const collection = before && presentDefinition(before).collection
  if (collection && schemas.length + unique.length > 0) {
    const rest = yieldEvery(SLICE_MS)
    for await (const text of textsIn(deps.storeIn(collection.datasource), collection)) {
      await rest()
      if (performance.now() > until) {
        isComplete = false
        break
      }
      const check = (): void => {
        spend(text.length)
        const stored = parseTrusted(text) as JsonObject
        note(problems, stored, schemas)
        isComplete &&= refuseRepeated(stored)
      }
      if (work) during(work, check)
      else check()
      checked++
    }
  }
  const listed = await Promise.all(
    [...problems.values()].map(async ({ ids, ...problem }) => ({
      ...problem,
      ids: (await deps.readable(caller, name, ids)).slice(0, MAX_IDS),
    })),
  )
  return { checked, complete: isComplete, problems: listed }
}

const SLICE_MS = 10
const MAX_IDS = 10
/** More than are shown, because the caller may not read all of them. */
const MAX_CANDIDATES = 100
const MAX_PROBLEMS = 100

async function* textsIn(store: Database, collection: Collection): AsyncGenerator<string> {
  for await (const page of store.transfer.documents(collection)) for (const { text } of page) yield text
}

/** Fails when a document repeats a value of an earlier one; false when there are too many values to remember. */
function repetitionsIn(unique: readonly IndexDefinition[]): (stored: JsonObject) => boolean {
  const indexes: UniqueIndexes = new Map(unique.entries())
  const seen = new Set<string>()
  return (stored) => {
    for (const claim of claimsOf(stored, indexes)) {
      if (seen.has(claim)) throw repeatedValues(unique[indexOfClaim(claim)]!)
      if (seen.size >= MAX_CLAIMS) return false
      seen.add(claim)
    }
    return true
  }
}

const MAX_CLAIMS = 200_000

/** Each kind of fault of a field counts once for a document. */
function note(problems: Map<string, Problem>, stored: JsonObject, schemas: readonly Schema[]): void {
  const nothing = (): undefined => undefined
  for (const schema of schemas) {
    const faults = { perDocument: MAX_PROBLEMS, left: MAX_PROBLEMS }
    const sources = { faults, uuid: nothing, id: nothing, generate: nothing, usesDefaults: false }
    const found = prepareDocument(schema, definedPart(stored, schema.root), sources).faults
    const kinds = new Map(
      found.map(({ code, context }) => [
        `${code} ${context.replaceAll(/\.\d+(?=\.|$)/g, '.*')}`,
        { code, context },
      ]),
    )
    for (const [kind, { code, context }] of kinds) {
      const key = `${schema.version} ${kind}`
      if (!problems.has(key) && problems.size >= MAX_PROBLEMS) continue
      const field = context.replaceAll(/\.\d+(?=\.|$)/g, '.*')
      const problem = problems.get(key) ?? {
        version: schema.version,
        errorCode: code,
        field,
        count: 0,
        ids: [],
      }
      problem.count++
      if (problem.ids.length < MAX_CANDIDATES) problem.ids.push(stored['_id']!)
      problems.set(key, problem)
    }
  }
}

/** Entities with a version in use that refers to this one; a change that breaks such a reference is refused. */
function dependentsOf(registry: Registry, name: string): Json {
  const entities = (registry.current() as Catalogue).entities
  const word = JSON.stringify(name)
  return [...entities]
    .filter(([entity]) => entity !== name)
    .filter(([, { versions }]) =>
      [...versions.values()].some(
        ({ text, heading }) => heading().status.value !== 'disabled' && text.includes(`"entity":${word}`),
      ),
    )
    .map(([entity]) => entity)
}

interface Comparing {
  readonly name: string
  readonly versions: readonly string[]
}

/** A new version is compared with the default version, which callers have used until now. */
function accessChanges(before: Registry, after: Registry, { name, versions }: Comparing): Json {
  const known = before.versionNames(name)
  const changes: Json[] = []
  for (const version of versions) {
    const other = known.includes(version)
      ? version
      : known.length > 0
        ? before.infoOf(name).defaultVersion
        : undefined
    const old = other === undefined ? new Map<string, Json>() : entriesOf(before, name, other)
    const now = entriesOf(after, name, version)
    for (const key of new Set([...old.keys(), ...now.keys()])) {
      const [field, operation, role] = JSON.parse(key) as [string, string, string]
      // A version that does not name the role treats it as anybody else.
      const others = JSON.stringify([field, operation, ANYONE_ELSE])
      const [was, is] = [old, now].map((each) => each.get(key) ?? each.get(others) ?? null) as [Json, Json]
      if (JSON.stringify(was) === JSON.stringify(is)) continue
      if (changes.length < MAX_CHANGES)
        changes.push({ version, comparedWith: other ?? null, field, operation, role, before: was, after: is })
    }
  }
  return changes
}

const MAX_CHANGES = 1_000

/** `[field, operation, role]` → what the role may do. The entity itself is the field "". */
function entriesOf(registry: Registry, entity: string, version: string): ReadonlyMap<string, Json> {
  const { roles, access, fields } = accessOf(registry, { entity, version }, DEFAULT_LIMITS) as unknown as {
    readonly roles: readonly string[]
    readonly access: JsonObject
    readonly fields: readonly JsonObject[]
  }
  const entries = new Map<string, Json>()
  for (const { path = '', ...operations } of [{ path: '', ...access }, ...fields] as readonly JsonObject[]) {
    for (const [operation, reaches] of Object.entries(operations)) {
      for (const [i, role] of roles.entries()) {
        const reach = isArray(reaches) ? reaches[i] : isObject(reaches) ? reaches[role] : undefined
        if (reach !== undefined) entries.set(JSON.stringify([path, operation, role]), reach)
      }
    }
  }
  return entries
}
