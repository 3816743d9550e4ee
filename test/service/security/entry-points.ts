/** Every way in which a query, an order, a projection, a change or a document can reach the service, as one list. */
import { createHash } from 'node:crypto'
import { ServiceError } from '../../../src/base/errors.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { queryToFilter } from '../../../src/lang/text/spellings.ts'
import type { Answer, TestServer } from '../../support/server.ts'
import { EVERYTHING } from '../../support/service.ts'
import { simpleParameters } from './simple-parameters.ts'

/** What an attack consists of; the rest of the request is harmless. */
export interface Parts {
  /** What is attacked; the people of the office when absent. */
  readonly entity?: string
  readonly query?: Json
  readonly sort?: Json
  readonly projection?: Json
  readonly update?: Json
  readonly data?: Json
  readonly upsert?: boolean
}

export type Part = 'query' | 'sort' | 'projection' | 'update' | 'data'

export interface EntryPoint {
  readonly name: string
  /** The operation of the route that it goes through. */
  readonly route: string
  readonly carries: readonly Part[]
  /** Undefined where this way in cannot say such a thing. */
  readonly send: (server: TestServer, parts: Parts, roles: readonly string[]) => Promise<Outcome | undefined>
}

export interface Outcome {
  readonly name: string
  readonly text: string
  /** The response document; inside of a bulk that of the entry. */
  readonly response: JsonObject
  /** Of the first error, of the request or of a document. */
  readonly code: string | undefined
}

const READ: readonly Part[] = ['query', 'sort', 'projection']
const CARRIES = {
  find: READ,
  explain: READ,
  aggregate: ['query'],
  insert: ['data', 'projection'],
  save: ['data', 'projection'],
  update: ['query', 'update', 'projection'],
  delete: ['query'],
} as const satisfies Record<string, readonly Part[]>
type Operation = keyof typeof CARRIES
const OPERATIONS = Object.keys(CARRIES) as readonly Operation[]

const ALL: Json = { field: '_id', op: '!=', rvalue: null }

/** The parts without those that the operation would refuse, because it has no use for them. */
function partsFor(
  operation: Operation,
  { query, update, data, ...others }: Omit<Parts, 'entity'>,
): JsonObject {
  const decisive = Object.entries({ query, update, data }).filter(
    ([name, part]) => part !== undefined && CARRIES[operation].some((each) => each === name),
  )
  // An aggregate refuses a projection, and sorts by names of its result.
  const own = operation === 'aggregate' ? {} : (others as JsonObject)
  return { ...own, ...(Object.fromEntries(decisive) as JsonObject) }
}

/** The body of a request that is sound but for the parts. */
function bodyOf(operation: Operation, { entity = 'person', ...all }: Parts): JsonObject {
  const parts = partsFor(operation, all)
  switch (operation) {
    case 'find':
    case 'explain':
      return { entity, query: ALL, projection: EVERYTHING, ...parts }
    case 'aggregate':
      return { entity, query: ALL, groupBy: ['_id'], values: { n: { $count: true } }, ...parts }
    case 'insert':
      return { entity, data: { name: 'new' }, projection: EVERYTHING, ...parts }
    case 'save':
      return { entity, data: { _id: '1', name: 'saved' }, upsert: true, projection: EVERYTHING, ...parts }
    case 'update':
      return { entity, query: ALL, update: { $set: { note: 'updated' } }, projection: EVERYTHING, ...parts }
    case 'delete':
      return { entity, query: ALL, ...parts }
  }
}

interface Door {
  readonly method: string
  readonly base: string
  readonly operation: Operation
  readonly route: string
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Part of the body besides what every body has. */
  readonly more?: JsonObject
}

/** A moment that has not come is now; who is attacked keeps a history. */
const LOOKING_BACK: JsonObject = { asOf: '2099-01-01T00:00:00Z' }

const BODY_DOORS: readonly Door[] = [
  { method: 'POST', base: '/data/find', operation: 'find', route: 'find' },
  { method: 'POST', base: '/data/find', operation: 'find', route: 'find', query: '?stream=true' },
  {
    method: 'POST',
    base: '/data/find',
    operation: 'find',
    route: 'find',
    headers: { Accept: 'application/x-ndjson' },
  },
  { method: 'POST', base: '/data/explain', operation: 'explain', route: 'explain' },
  { method: 'POST', base: '/data/aggregate', operation: 'aggregate', route: 'aggregate' },
  { method: 'POST', base: '/data/find', operation: 'find', route: 'find', more: LOOKING_BACK },
  { method: 'POST', base: '/data/explain', operation: 'explain', route: 'explain', more: LOOKING_BACK },
  { method: 'PUT', base: '/data/insert', operation: 'insert', route: 'insert' },
  { method: 'PUT', base: '/data', operation: 'insert', route: 'insertAlias' },
  { method: 'POST', base: '/data/save', operation: 'save', route: 'save' },
  { method: 'POST', base: '/data/update', operation: 'update', route: 'update' },
  { method: 'POST', base: '/data/delete', operation: 'delete', route: 'delete' },
]

const VERSIONS = [
  ['', 'Default'],
  ['/1.0.0', ''],
] as const

const withBody = BODY_DOORS.flatMap(({ method, base, operation, route, query = '', headers = {}, more }) =>
  VERSIONS.map(([version, suffix]): EntryPoint => {
    const added = [...Object.values(headers), ...Object.keys(more ?? {})].join('')
    const name = `${method} ${base}${version}${query} ${added}`.trim()
    const carries = CARRIES[operation]
    return {
      name,
      route: `${route}${suffix}`,
      carries,
      async send({ ask }, parts, roles) {
        const { entity = 'person' } = parts
        const body = { ...bodyOf(operation, parts), ...more }
        return outcome(
          name,
          await ask(method, `${base}/${entity}${version}${query}`, { body, roles, headers }),
        )
      },
    }
  }),
)

/** The query as a filter; undefined where no text can say it, because it is no query. */
function filterOf(query: Json): string | undefined {
  try {
    return queryToFilter(query)
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}

const byFilter = (['find', 'explain', 'update', 'delete'] as const).flatMap((operation) =>
  VERSIONS.map(([version, suffix]): EntryPoint => {
    const name = `POST /data/${operation}${version} with a filter`
    return {
      name,
      route: `${operation}${suffix}`,
      carries: ['query'],
      async send({ ask }, parts, roles) {
        const { query, ...others } = bodyOf(operation, parts)
        const filter = filterOf(query!)
        if (filter === undefined) return undefined
        const path = `/data/${operation}/${parts.entity ?? 'person'}${version}`
        return outcome(name, await ask('POST', path, { body: { ...others, filter }, roles }))
      },
    }
  }),
)

const byFilterInAddress = (['find', 'explain'] as const).flatMap((operation) =>
  VERSIONS.map(([version, suffix]): EntryPoint => {
    const name = `GET /data/${operation}${version} with a filter`
    return {
      name,
      route: `${operation === 'find' ? 'simpleFind' : 'simpleExplain'}${suffix}`,
      carries: ['query'],
      async send({ ask }, { entity = 'person', query = ALL }, roles) {
        const filter = filterOf(query)
        // longer addresses are refused before they are read
        if (filter === undefined || filter.length > MAX_FILTER) return undefined
        const path = `/data/${operation}/${entity}${version}?filter=${encodeURIComponent(filter)}`
        return outcome(name, await ask('GET', path, { roles }))
      },
    }
  }),
)

const MAX_FILTER = 2_000

const byAddress = (['find', 'explain'] as const).flatMap((operation) =>
  VERSIONS.map(([version, suffix]): EntryPoint => {
    const name = `GET /data/${operation}${version}`
    const route = `${operation === 'find' ? 'simpleFind' : 'simpleExplain'}${suffix}`
    return {
      name,
      route,
      carries: READ,
      async send({ ask }, parts, roles) {
        const parameters = simpleParameters(parts)
        if (parameters === undefined) return undefined
        const path = `/data/${operation}/${parts.entity ?? 'person'}${version}?${parameters}`
        return outcome(name, await ask('GET', path, { roles }))
      },
    }
  }),
)

const MODES: readonly JsonObject[] = [
  {},
  { ordered: false },
  { atomic: true },
  { execution: { atomic: true } },
]

const bulk = OPERATIONS.flatMap((operation) =>
  MODES.map((mode): EntryPoint => {
    const name = `bulk ${operation} ${JSON.stringify(mode)}`
    return {
      name,
      route: 'bulk',
      carries: CARRIES[operation],
      async send({ ask }, parts, roles) {
        const request = bodyOf(operation, parts)
        const body = { ...mode, requests: [{ seq: 1, op: operation, request }] }
        const answer = await ask('POST', '/data/bulk', { body, roles })
        return outcomeOf(name, answer.text, answer.json.responses?.[0]?.response ?? answer.json)
      },
    }
  }),
)

const searches = new WeakMap<TestServer, Map<string, Promise<Answer>>>()

/** Saved under its own words, so that the next who wants the same need not save it again. */
function saveSearch(server: TestServer, data: JsonObject): { name: string; kept: Promise<Answer> } {
  const known = searches.get(server) ?? new Map<string, Promise<Answer>>()
  searches.set(server, known)
  const words = JSON.stringify(data)
  const name = `search-${createHash('sha256').update(words).digest('hex')}`
  const body = { data: { name, ...data } }
  const kept = known.get(words) ?? server.ask('PUT', '/data/insert/savedSearch', { body, roles: ['admin'] })
  known.set(words, kept)
  return { name, kept }
}

/** What is attacked with is what somebody saved; or what the caller puts in its place. */
const saved = (['GET', 'POST'] as const).flatMap((method) =>
  VERSIONS.flatMap(([version, suffix]) =>
    [false, true].map((isOverride): EntryPoint => {
      const name = `${method} search${version}${isOverride ? ' with P and S' : ''}`
      return {
        name,
        route: `${method === 'GET' ? 'simpleSearch' : 'search'}${suffix}`,
        carries: isOverride ? ['sort', 'projection'] : READ,
        async send(server, parts, roles) {
          const parameters = isOverride ? simpleParameters(parts) : ''
          if (parameters === undefined) return undefined
          const { entity = 'person', query = ALL, projection = null, sort = null } = parts
          const stored = isOverride ? { query } : { query, projection, sort }
          const search = saveSearch(server, { entity, ...stored })
          const kept = await search.kept
          // what cannot even be saved is refused there
          if (kept.json.modifiedCount !== 1) return outcome(name, kept)
          const path = `/data/search/${entity}${version}/${search.name}?${parameters}`
          return outcome(name, await server.ask(method, path, { roles }))
        },
      }
    }),
  ),
)

/** One document per line, stored as it arrives. */
const imports = ['', '?upsert=true'].flatMap((query) =>
  VERSIONS.map(([version, suffix]): EntryPoint => {
    const name = `POST /data/import${version}${query}`
    return {
      name,
      route: `import${suffix}`,
      carries: ['data'],
      async send({ ask }, { entity = 'person', data = { name: 'new' } }, roles) {
        const lines = (Array.isArray(data) ? data : [data]).map((each) => JSON.stringify(each))
        const headers = { 'Content-Type': 'application/x-ndjson' }
        const body = Buffer.from(lines.join('\n'))
        const answer = await ask('POST', `/data/import/${entity}${version}${query}`, { body, roles, headers })
        const told = answer.text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line))
        const dataErrors = told.filter((line) => line.line !== undefined)
        const last = told.at(-1)
        return outcomeOf(name, answer.text, dataErrors.length > 0 ? { ...last, dataErrors } : last)
      },
    }
  }),
)

export const ENTRY_POINTS: readonly EntryPoint[] = [
  ...withBody,
  ...byFilter,
  ...byFilterInAddress,
  ...byAddress,
  ...bulk,
  ...saved,
  ...imports,
]

export interface Attack {
  readonly parts: Parts
  /** By which of the parts the entry points are chosen. */
  readonly by: Part
  readonly roles: readonly string[]
}

/** The same attack through every entry point that can carry it, one after the other. */
export async function throughEach(
  server: TestServer,
  { parts, by, roles }: Attack,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  for (const { send } of ENTRY_POINTS.filter((each) => each.carries.includes(by))) {
    const sent = await send(server, parts, roles)
    if (sent) outcomes.push(sent)
  }
  return outcomes
}

function outcome(name: string, answer: Answer): Outcome {
  const isStream = answer.headers['content-type']?.startsWith('application/x-ndjson') ?? false
  // the last line of a stream tells how it ended
  const response = JSON.parse(isStream ? answer.text.trimEnd().split('\n').at(-1)! : answer.text)
  return outcomeOf(name, answer.text, response)
}

function outcomeOf(name: string, text: string, response: Answer['json']): Outcome {
  // what is no request at all has the bare error object for an answer
  const error = response.errors?.[0] ?? response.dataErrors?.[0]?.errors[0] ?? response
  return { name, text, response, code: error.errorCode }
}
