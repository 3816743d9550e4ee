/** Documents of a running Lightblue, by its data routes: in pages, ordered by `_id`. */
import { type Json, type JsonObject, isArray, isObject, member } from '../../base/json/json.ts'
import { mergeMembers } from '../../base/json/merge-members.ts'
import type { DocumentSource, SourceBatch, SourceCollection } from '../source.ts'
import { SourceError } from '../source-error.ts'
import type { RestClient } from './rest-client.ts'
import { textMember } from '../text-member.ts'

export interface RestEntity {
  readonly entity: string
  /** A version shows only the fields that it defines, so all versions are read and put together. */
  readonly versions: readonly string[]
}

interface RestOptions {
  readonly client: RestClient
  readonly entities: readonly RestEntity[]
  /** Where to go on, by entity. */
  readonly positions: Positions
}

/** How many documents of each entity are stored already. */
export interface Positions {
  readonly of: (entity: string) => number
  readonly set: (entity: string, position: number) => void
}

const PAGE = 500

export function openRest({ client, entities, positions }: RestOptions): DocumentSource {
  return {
    async check() {
      const collections: SourceCollection[] = []
      for (const { entity, versions } of entities) {
        const { matchCount } = await find(client, { entity, version: versions[0]! }, { from: 0, size: 1 })
        collections.push({ name: entity, documents: matchCount })
      }
      return collections
    },
    async *batches(isWanted) {
      for (const each of entities) if (isWanted(each.entity)) yield* pagesOf(each, client, positions)
    },
  }
}

async function* pagesOf(
  { entity, versions }: RestEntity,
  client: RestClient,
  positions: Positions,
): AsyncGenerator<SourceBatch> {
  let size = PAGE
  for (let from = positions.of(entity); ;) {
    const read = await readPage(client, { entity, versions, from, size })
    if (read === 'too large') {
      if (size === 1)
        throw new SourceError('failed', `document ${from} of ${entity} is too large for a response`)
      size = Math.ceil(size / 2)
      continue
    }
    const next = from + read.length
    if (read.length > 0) {
      yield {
        name: entity,
        documents: read.map((document) => ({ kind: 'read', document })),
        onStored: () => positions.set(entity, next),
      }
    }
    if (read.length < size) return
    from = next
  }
}

interface PageRequest extends RestEntity {
  readonly from: number
  readonly size: number
}

async function readPage(
  client: RestClient,
  { entity, versions, from, size }: PageRequest,
): Promise<readonly JsonObject[] | 'too large'> {
  const merged = new Map<string, JsonObject>()
  for (const [i, version] of versions.entries()) {
    const found = await find(client, { entity, version }, { from, size })
    if (found.isTooLarge) return 'too large'
    const expected = Math.max(0, Math.min(size, found.matchCount - from))
    if (found.documents.length !== expected) throw changed(entity)
    for (const document of found.documents) {
      const id = JSON.stringify(document['_id'])
      const known = merged.get(id)
      if (document['_id'] === undefined) throw hidesId(entity, version)
      if (!known && i > 0) throw changed(entity)
      merged.set(id, known ? (mergeMembers(known, document) as JsonObject) : document)
    }
  }
  return [...merged.values()]
}

interface Found {
  readonly documents: readonly JsonObject[]
  readonly matchCount: number
  readonly isTooLarge: boolean
}

async function find(
  client: RestClient,
  { entity, version }: { readonly entity: string; readonly version: string },
  { from, size }: { readonly from: number; readonly size: number },
): Promise<Found> {
  const path = `/find/${encodeURIComponent(entity)}/${encodeURIComponent(version)}`
  const answer = await client('POST', path, {
    query: { field: 'objectType', op: '=', rvalue: entity },
    projection: { field: '*', include: true, recursive: true },
    sort: { _id: '$asc' },
    from,
    to: from + size - 1,
  })
  const problems = [...listIn(answer, 'errors'), ...listIn(answer, 'dataErrors')]
  const isTooLarge = problems.some((each) => textMember(each, 'errorCode').endsWith('ResultSizeTooLarge'))
  const [problem] = problems
  if (problem !== undefined && !isTooLarge) {
    const [code, message] = [textMember(problem, 'errorCode'), textMember(problem, 'msg')]
    const reason = code === 'crud:NoAccess' ? 'denied' : 'failed'
    throw new SourceError(reason, `${entity} ${version} cannot be read: ${message} (${code})`)
  }
  const matchCount = member(answer, 'matchCount')
  if (typeof matchCount !== 'number') throw unexpected(path)
  return { documents: listIn(answer, 'processed').filter(isObject), matchCount, isTooLarge }
}

function listIn(value: Json, name: string): readonly Json[] {
  const list = member(value, name)
  return isArray(list) ? list : []
}

function changed(entity: string): SourceError {
  return new SourceError(
    'failed',
    `the documents of ${entity} changed while they were read; stop all writes to Lightblue and start again`,
  )
}

function hidesId(entity: string, version: string): SourceError {
  return new SourceError(
    'denied',
    `${entity} ${version} is shown without _id; the user needs roles that may read every field`,
  )
}

function unexpected(path: string): SourceError {
  return new SourceError('failed', `the answer to POST ${path} is not that of Lightblue's data routes`)
}
