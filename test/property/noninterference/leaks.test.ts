/** The non-interference test finds leaks: each of these services has one, and is caught. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '../../../src/access/caller.ts'
import { type Json, member } from '../../../src/base/json/json.ts'
import type { DataResponse } from '../../../src/service/response.ts'
import type { DataService, DocumentService, Service } from '../../../src/service/service.ts'
import { SEED } from '../../support/seed.ts'
import { documentsOf } from '../../support/service.ts'
import type { Kind } from './make-requests.ts'
import { ROLES } from './make-world.ts'
import { isReferenceName } from './references.ts'
import { DifferenceError, runRounds } from './rounds.ts'
import type { Wrap } from './sides.ts'

function boss(caller: Caller): Caller {
  return { ...caller, roles: new Set([...caller.roles, ...ROLES]) }
}

/** A service that does part of what it does otherwise. */
function leaking(leak: (data: DataService) => Partial<DataService>): Wrap {
  return (service): Service => ({ ...service, data: { ...service.data, ...leak(service.data) } })
}

function leakingDocuments(leak: (documents: DocumentService) => Partial<DocumentService>): Wrap {
  return (service): Service => ({
    ...service,
    documents: { ...service.documents, ...leak(service.documents) },
  })
}

function searches(body: Json | undefined): boolean {
  return /"text":|text\(/.test(JSON.stringify(body ?? null))
}

function isFurther(body: Json | undefined): boolean {
  return member(member(body, 'page'), 'after') !== undefined
}

/** Refused, as it should be, but with the number of documents that would have matched. */
async function counted(refused: DataResponse, matched: Promise<DataResponse>): Promise<DataResponse> {
  return refused.errors === undefined ? refused : { ...refused, matchCount: (await matched).matchCount }
}

/** As the caller may have the documents, but with those of references as whoever may see all has them. */
function withReferences(found: DataResponse, all: DataResponse): DataResponse {
  if (!found.processed) return found
  const whole = new Map(documentsOf(all).map((document) => [document['_id'], document]))
  const processed = documentsOf(found).map((document) => {
    const members = Object.entries(whole.get(document['_id']) ?? {})
    const joined = members.filter(([name]) => isReferenceName(name))
    return JSON.stringify({ ...document, ...Object.fromEntries(joined) })
  })
  return { ...found, processed }
}

/** With how many documents in sight a query would choose that is asked about all that references join. */
async function countingAll(
  data: DataService,
  response: DataResponse,
  [caller, target, body]: Parameters<DataService['find']>,
): Promise<DataResponse> {
  const query = member(body, 'query')
  if (query === undefined || !leadsOn(query)) return response
  const projection = { field: '_id' }
  const seen = namesIn(await data.find(caller, target, { projection }))
  const chosen = namesIn(await data.find(boss(caller), target, { query, projection }))
  return { ...response, matchCount: chosen.intersection(seen).size }
}

function leadsOn(asked: Json | undefined): boolean {
  return JSON.stringify(asked ?? null)
    .split(/[".#]/)
    .some(isReferenceName)
}

function namesIn(found: DataResponse): ReadonlySet<Json | undefined> {
  return new Set(documentsOf(found).map(({ _id }) => _id))
}

/** What is wrong, the requests that can show it, and the service that does it. */
const LEAKS: readonly (readonly [rule: string, kinds: readonly Kind[], wrap: Wrap])[] = [
  [
    'a find that shows all',
    ['find'],
    leaking((data) => ({ find: (caller, ...rest) => data.find(boss(caller), ...rest) })),
  ],
  [
    'a stream that shows all',
    ['stream'],
    leaking((data) => ({ stream: (caller, ...rest) => data.stream(boss(caller), ...rest) })),
  ],
  [
    'a refusal that counts',
    ['find'],
    leaking((data) => ({
      find: async (caller, ...rest) =>
        await counted(await data.find(caller, ...rest), data.find(boss(caller), ...rest)),
    })),
  ],
  [
    'an explanation of what may not be asked',
    ['explain', 'simpleExplain'],
    leaking((data) => ({
      explain: (caller, ...rest) => data.explain(boss(caller), ...rest),
      simpleExplain: (caller, ...rest) => data.simpleExplain(boss(caller), ...rest),
    })),
  ],
  [
    'a simple find that sorts by anything',
    ['simpleFind'],
    leaking((data) => ({ simpleFind: (caller, ...rest) => data.simpleFind(boss(caller), ...rest) })),
  ],
  [
    'an update that sees all',
    ['update'],
    leaking((data) => ({ update: (caller, ...rest) => data.update(boss(caller), ...rest) })),
  ],
  [
    'a save that reveals the size of documents',
    ['save'],
    leaking((data) => ({
      save: async (caller, target, body) => {
        const [saved, all] = [await data.save(caller, target, body), { field: '*', recursive: true }]
        const { processed = [] } = await data.find(boss(caller), target, { projection: all })
        return { ...saved, matchCount: processed.join().length }
      },
    })),
  ],
  [
    'a bulk that shows all',
    ['bulk'],
    leaking((data) => ({ bulkInParts: (caller, ...rest) => data.bulkInParts(boss(caller), ...rest) })),
  ],
  [
    'a saved search that asks about anything',
    ['search'],
    leaking((data) => ({
      search: (caller, ...rest) => data.search(boss(caller), ...rest),
      simpleSearch: (caller, ...rest) => data.simpleSearch(boss(caller), ...rest),
    })),
  ],
  [
    'a reference that shows all that it joins',
    ['find'],
    leaking((data) => ({
      find: async (caller, ...rest) =>
        withReferences(await data.find(caller, ...rest), await data.find(boss(caller), ...rest)),
    })),
  ],
  [
    'a query that asks about all that a reference joins',
    ['find', 'explain'],
    leaking((data) => ({
      find: async (...asked) => await countingAll(data, await data.find(...asked), asked),
      explain: async (...asked) => await countingAll(data, await data.explain(...asked), asked),
    })),
  ],
  [
    'events that show all',
    ['update', 'events'],
    (service): Service => ({
      ...service,
      events: { ...service.events, read: (caller, ...rest) => service.events.read(boss(caller), ...rest) },
    }),
  ],
  [
    'an aggregate of all',
    ['aggregate'],
    leaking((data) => ({ aggregate: (caller, ...rest) => data.aggregate(boss(caller), ...rest) })),
  ],
  [
    'a text search that finds all',
    ['find'],
    leaking((data) => ({
      find: (caller, target, body) => data.find(searches(body) ? boss(caller) : caller, target, body),
    })),
  ],
  [
    'a further page that shows all',
    ['find'],
    leaking((data) => ({
      find: (caller, target, body) => data.find(isFurther(body) ? boss(caller) : caller, target, body),
    })),
  ],
  [
    'a further page by parameters that shows all',
    ['simpleFind'],
    leaking((data) => ({
      simpleFind: (caller, target, parameters) =>
        data.simpleFind(parameters.has('after') ? boss(caller) : caller, target, parameters),
    })),
  ],
  [
    'a list of documents that shows all',
    ['plainList'],
    leakingDocuments((documents) => ({
      list: (caller, ...rest) => documents.list(boss(caller), ...rest),
    })),
  ],
  [
    'a further page of a list of documents that shows all',
    ['plainList'],
    leakingDocuments((documents) => ({
      list: (caller, target, options) =>
        documents.list(options.parameters.has('after') ? boss(caller) : caller, target, options),
    })),
  ],
  [
    'a document that shows all',
    ['plainOne'],
    leakingDocuments((documents) => ({ get: (caller, ...rest) => documents.get(boss(caller), ...rest) })),
  ],
  [
    'a merge patch that sees all',
    ['plainOne'],
    leakingDocuments((documents) => ({ patch: (caller, ...rest) => documents.patch(boss(caller), ...rest) })),
  ],
  [
    'a ticket that stands for every role',
    ['simpleFind', 'plainOne', 'plainList'],
    (service): Service => ({
      ...service,
      tickets: {
        ...service.tickets,
        open: (...asked) => {
          const credentials = service.tickets.open(...asked)
          return credentials && { ...credentials, 'Smalt-Roles': ROLES.join() }
        },
      },
    }),
  ],
]

for (const [i, [rule, kinds, wrap]] of LEAKS.entries()) {
  test(`noninterference: ${rule} is found out`, async () => {
    const rounds = { pairs: 1_200, perRound: 40, seed: SEED + i * 10_000, shrinkMs: 0, kinds, wrap }
    await assert.rejects(runRounds(rounds), DifferenceError)
  })
}

test('noninterference: a difference is reported by the smallest request that shows it, with its seed', async () => {
  const wrap = leaking((data) => ({
    // one document is enough where none leads to others
    find: (caller, target, body) => data.find(leadsOn(body) ? caller : boss(caller), target, body),
  }))
  const seed = SEED + LEAKS.length * 10_000 + 100
  const rounds = { pairs: 1_000, perRound: 25, seed, kinds: ['find'], wrap } as const
  const error = await runRounds(rounds).catch((each: unknown) => each)
  assert.ok(error instanceof DifferenceError)
  assert.match(error.message, /--pairs 25 --per-round 25 --seed \d+/)
  assert.equal(error.message.match(/^A holds /gm)?.length, 1)
  assert.equal(error.message.match(/^\S* (?:GET|PUT|POST|DELETE) /gm)?.length, 1)
})
