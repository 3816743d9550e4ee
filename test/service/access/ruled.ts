/** What the tests of row rules share: callers with names and claims, and every way to read. */
import assert from 'node:assert/strict'
import { type Caller, PERMISSIONS } from '../../../src/access/caller.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import type { DataResponse } from '../../../src/service/response.ts'
import { EVERYTHING, documentsOf } from '../../support/service.ts'
import { type Tenant, openTenant } from '../../support/shared-service.ts'
import { storeKind } from '../../support/store-kind.ts'

export const ALL: JsonObject = { $and: [] }

export function callerAs(roles: readonly string[], principal = '', claims: JsonObject = {}): Caller {
  return { principal, roles: new Set(roles), permissions: new Set(PERMISSIONS), claims }
}

export const BOSS = callerAs(['boss'], 'boss')

export const equals = (field: string, rvalue: Json): JsonObject => ({ field, op: '=', rvalue })

/** The entity as a test has it. */
export interface Ruled {
  readonly access: JsonObject
  readonly fields: JsonObject
  readonly documents: readonly JsonObject[]
}

const opened = new Map<string, Promise<Tenant>>()

/** Tests on the same kind of store that have the same entity share it; its documents are new. */
export async function openRuled(ruled: Ruled): Promise<Tenant> {
  const key = JSON.stringify([storeKind(), ruled])
  const known = opened.get(key)
  const opening = known ?? define(ruled)
  opened.set(key, opening)
  const on = await opening
  const { entity } = on
  if (known) assert.equal((await on.service.data.delete(BOSS, { entity }, { query: ALL })).status, 'COMPLETE')
  const { modifiedCount } = await on.insert(entity, { data: ruled.documents }, BOSS)
  assert.equal(modifiedCount, ruled.documents.length)
  return on
}

async function define({ access, fields }: Ruled): Promise<Tenant> {
  const on = await openTenant()
  await on.define(on.entity, fields, { schema: { access } })
  return on
}

/** What a reader was told: how many match, and the documents in their order. */
export interface Answer {
  readonly code?: string | undefined
  readonly matchCount: number
  readonly documents?: readonly JsonObject[]
}

type Reader = (on: Tenant, caller: Caller, body: JsonObject) => Promise<Answer>

/** Every way to ask for documents; each asks for all that it may be told. */
export const READERS: Readonly<Record<string, Reader>> = {
  find: async (on, caller, body) => answer(await on.find(on.entity, asked(body), caller)),
  async explain(on, caller, body) {
    const { documents: _, ...told } = answer(
      await on.service.data.explain(caller, { entity: on.entity }, asked(body)),
    )
    return told
  },
  async 'GET find'(on, caller, { query = null, sort = null, ...rest }) {
    assert.deepEqual(rest, {})
    if (query !== null || sort !== null) return await READERS['find']!(on, caller, { query, sort })
    const parameters = new URLSearchParams({ P: '*:1r' })
    return answer(await on.service.data.simpleFind(caller, { entity: on.entity }, parameters))
  },
  async 'GET explain'(on, caller, { query = null, sort = null }) {
    if (query !== null || sort !== null) return await READERS['explain']!(on, caller, { query, sort })
    const parameters = new URLSearchParams({ P: '*:1r' })
    const response = await on.service.data.simpleExplain(caller, { entity: on.entity }, parameters)
    const { documents: _, ...told } = answer(response)
    return told
  },
  async stream(on, caller, body) {
    const opened = await on.service.data.stream(caller, { entity: on.entity }, asked(body))
    if ('status' in opened) return answer(opened)
    const lines: JsonObject[] = []
    for await (const line of opened) lines.push(JSON.parse(line) as JsonObject)
    const last = lines.at(-1) as { matchCount: number }
    const documents = lines.slice(1, -1).map(({ processed }) => processed as JsonObject)
    return { matchCount: last.matchCount, documents }
  },
  bulk: (on, caller, body) => inBulk(on, caller, body, {}),
  'atomic bulk': (on, caller, body) => inBulk(on, caller, body, { execution: { atomic: true } }),
  async 'saved search'(on, caller, { query = ALL, sort = null }) {
    const { entity } = on
    const saved = { _id: `all ${entity}`, name: 'all', entity, query, sort }
    const admin = callerAs(['admin'])
    await on.service.data.save(admin, { entity: 'savedSearch' }, { data: saved, upsert: true })
    const target = { entity, name: 'all' }
    return answer(await on.service.data.search(caller, target, {}, new URLSearchParams()))
  },
  async count(on, caller, body) {
    const { documents, ...told } = answer(
      await on.find(on.entity, { ...asked(body), range: [0, -1] }, caller),
    )
    assert.deepEqual(documents ?? [], [])
    return told
  },
}

/** All readers give the same answer, as far as they give one. */
export async function readBy(on: Tenant, caller: Caller, body: JsonObject = {}): Promise<Answer> {
  const expected = await READERS['find']!(on, caller, body)
  for (const [name, read] of Object.entries(READERS)) {
    const told = await read(on, caller, body)
    assert.deepEqual([told.code, told.matchCount], [expected.code, expected.matchCount], name)
    if (told.documents) assert.deepEqual(told.documents, expected.documents, name)
  }
  return expected
}

export function idsIn({ documents = [] }: Answer): readonly Json[] {
  return documents.map(({ _id }) => _id!)
}

export function answer(response: DataResponse): Answer {
  const code = response.errors?.[0]?.errorCode ?? response.dataErrors?.[0]?.errors[0]?.errorCode
  const { matchCount } = response
  return {
    ...(code && { code }),
    matchCount,
    ...(response.processed && { documents: documentsOf(response) }),
  }
}

/** Each document, as the boss reads it, without what the service adds. */
export async function stored(on: Tenant): Promise<Readonly<Record<string, JsonObject>>> {
  const { documents = [] } = await READERS['find']!(on, BOSS, {})
  return Object.fromEntries(documents.map((each) => [each['_id'] as string, plain(each)]))
}

export function plain(document: JsonObject): JsonObject {
  const entries = Object.entries(document).filter(([name]) => name !== 'objectType' && !name.endsWith('#'))
  return Object.fromEntries(entries)
}

function asked(body: JsonObject): JsonObject {
  return { projection: EVERYTHING, ...body }
}

async function inBulk(on: Tenant, caller: Caller, body: JsonObject, more: JsonObject): Promise<Answer> {
  const requests = [{ seq: 0, op: 'find', request: { entity: on.entity, ...asked(body) } }]
  const text = await on.service.data.bulk(caller, { requests, ...more })
  const { responses } = JSON.parse(text) as { responses: { response: BulkAnswer }[] }
  const { matchCount, processed, errors } = responses[0]!.response
  const code = errors?.[0]?.errorCode
  return { ...(code && { code }), matchCount, ...(processed && { documents: processed }) }
}

interface BulkAnswer {
  readonly matchCount: number
  readonly processed?: readonly JsonObject[]
  readonly errors?: readonly { readonly errorCode: string }[]
}
