/** Data operations: find, explain, insert, save, delete, history, saved searches and locks. */
import { asProblem } from './failure.ts'
import { type Json, type JsonObject, isArray, isObject, textOf } from './json.ts'
import type { Transport } from './transport.ts'
import type { Find, Found, History, PastVersion, Target, Update, Updated, Written } from './types.ts'

export const EVERYTHING: Json = { field: '*', recursive: true }

/** A document with the version that it was read in, so that a write can refuse to overwrite another one. */
export interface Versioned {
  readonly document: JsonObject
  readonly documentVersion: string
}

export interface DataClient {
  readonly find: (find: Find, signal?: AbortSignal) => Promise<Found>
  readonly explain: (find: Find) => Promise<JsonObject>
  /** How many documents each entity has; absent where the caller may not find them. */
  readonly counts: (entities: readonly string[]) => Promise<ReadonlyMap<string, number>>
  readonly insert: (target: Target, documents: readonly JsonObject[]) => Promise<Written>
  /** Replaces documents, each only if its version is still the current one. */
  readonly save: (target: Target, documents: readonly Versioned[]) => Promise<Written>
  /** Changes all documents that match. */
  readonly update: (update: Update) => Promise<Updated>
  readonly remove: (target: Target, documents: readonly Versioned[]) => Promise<number>
  /** The latest versions of a document, at most `count`. */
  readonly history: (target: Target, id: Json, count: number) => Promise<History>
  readonly searches: (entity: string) => Promise<readonly JsonObject[]>
  readonly lock: (request: JsonObject) => Promise<Json>
}

export function dataClient(transport: Transport): DataClient {
  return {
    async find(find, signal) {
      const body = findBody(find)
      return foundIn(await transport.send('POST', pathOf('find', find), { body, signal }))
    },
    async explain(find) {
      const answer = await transport.send('POST', pathOf('explain', find), { body: findBody(find) })
      return asObject(asList(asObject(answer)['processed'])[0])
    },
    async counts(entities) {
      const counts = new Map<string, number>()
      for (let from = 0; from < entities.length; from += BULK) {
        const part = entities.slice(from, from + BULK)
        const requests = part.map((entity, seq) => ({ seq, op: 'find', request: countRequest(entity) }))
        const answer = await transport.send('POST', '/data/bulk', { body: { requests } })
        for (const each of asList(asObject(answer)['responses'])) {
          const { seq, response } = asObject(each)
          const { status, matchCount } = asObject(response)
          if (status === 'COMPLETE') counts.set(part[Number(seq)]!, Number(matchCount))
        }
      }
      return counts
    },
    async insert(target, documents) {
      const body = { data: documents, projection: EVERYTHING }
      return writtenIn(await transport.send('PUT', pathOf('insert', target), { body }))
    },
    async save(target, documents) {
      const body = {
        data: documents.map(({ document }) => document),
        projection: EVERYTHING,
        documentVersions: documents.map(({ documentVersion }) => documentVersion),
        onlyIfCurrent: true,
      }
      return writtenIn(await transport.send('POST', pathOf('save', target), { body }))
    },
    async update(update) {
      const answer = await transport.send('POST', pathOf('update', update), { body: updateBody(update) })
      const { matchCount, dryRun } = asObject(answer)
      const events = asObject(asObject(dryRun)['events']) as Updated['events']
      return { ...writtenIn(answer), matchCount: Number(matchCount ?? 0), events }
    },
    async remove(target, documents) {
      const body = {
        query: { field: '_id', op: '$in', values: documents.map(({ document }) => document['_id']!) },
        documentVersions: documents.map(({ documentVersion }) => documentVersion),
        onlyIfCurrent: true,
      }
      return writtenIn(await transport.send('POST', pathOf('delete', target), { body })).modifiedCount
    },
    async history({ entity, version }, id, count) {
      const path = ['', 'data', 'history', entity, ...(version === undefined ? [] : [version]), textOf(id)]
      const read = async (from: number): Promise<JsonObject> => {
        const query = { from: String(from), maxResults: String(count + 1) }
        return asObject(await transport.send('GET', path.map(encodeURIComponent).join('/'), { query }))
      }
      const oldest = await read(0)
      const older = Math.max(0, Number(oldest['matchCount']) - count)
      // they come oldest first; the one before the first shown is there to be compared with
      const { processed } = older > 1 ? await read(older - 1) : oldest
      const versions = asList(processed) as unknown as readonly PastVersion[]
      return older === 0 ? { versions, older } : { versions: versions.slice(1), before: versions[0], older }
    },
    async searches(entity) {
      const answer = await transport.send('GET', `/data/search/${encodeURIComponent(entity)}`)
      return asList(asObject(answer)['processed']).map(asObject)
    },
    async lock(request) {
      return asObject(await transport.send('POST', '/data/lock', { body: request }))['result'] ?? null
    },
  }
}

/** The body of a find or explain; also what is shown to people. */
export function findBody(find: Find): JsonObject {
  const { query, filter, projection = EVERYTHING, sort, range, page, asOf, isCounted = true } = find
  return {
    ...(query !== undefined && { query }),
    ...(filter !== undefined && { filter }),
    projection,
    ...(sort !== undefined && { sort }),
    ...(range && { range }),
    ...(page && { page: { ...page } }),
    ...(asOf !== undefined && { asOf }),
    ...(!isCounted && { execution: { count: 'none' } }),
  }
}

function updateBody(update: Update): JsonObject {
  const { query, filter, projection, documentVersions, isDryRun = false } = update
  return {
    // an update needs a condition; this one is true of every document
    ...(filter === undefined ? { query: query ?? { $and: [] } } : { filter }),
    update: update.update,
    ...(projection !== undefined && { projection }),
    ...(documentVersions && { documentVersions }),
    ...(isDryRun && { execution: { dryRun: true } }),
  }
}

export function pathOf(operation: string, { entity, version }: Target): string {
  const segments = ['', 'data', operation, entity, ...(version === undefined ? [] : [version])]
  return segments.map(encodeURIComponent).join('/')
}

/** At most so many finds in one bulk. */
const BULK = 200

function countRequest(entity: string): JsonObject {
  return { entity, projection: { field: '_id' }, range: [0, 0] }
}

function foundIn(answer: Json): Found {
  const { processed, matchCount, next } = asObject(answer)
  return {
    documents: asList(processed).map(asObject),
    versions: versionsIn(answer),
    matchCount: Number(matchCount ?? 0),
    next: typeof next === 'string' ? next : undefined,
  }
}

function writtenIn(answer: Json): Written {
  const { processed, modifiedCount, dataErrors } = asObject(answer)
  const failures = asList(dataErrors).map((each) => {
    const { data = null, errors } = asObject(each)
    return { data, problems: asList(errors).map(asProblem) }
  })
  return {
    documents: asList(processed).map(asObject),
    versions: versionsIn(answer),
    modifiedCount: Number(modifiedCount ?? 0),
    failures,
  }
}

function versionsIn(answer: Json): readonly string[] {
  const { resultMetadata } = asObject(answer)
  return asList(resultMetadata).map((each) => textOf(asObject(each)['documentVersion']))
}

export function asObject(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {}
}

export function asList(value: Json | undefined): readonly Json[] {
  return isArray(value) ? value : []
}
