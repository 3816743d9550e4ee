/** A process with a small heap that reads far larger results from a given store, and prints the outcome of each read. */
import type { JsonObject } from '../../src/base/json/json.ts'
import { ADMIN, EVERYTHING, openServiceAt } from '../support/service.ts'

const ID = { field: '_id' }
/** What is joined is shown where it is named. */
const WHOLE = [EVERYTHING, { field: 'parts', recursive: true }]
const JOINED = [ID, { field: 'parts.*._id' }]
const FOUND: readonly (readonly [name: string, entity: string, body: JsonObject])[] = [
  ['ids', 'large', { projection: ID }],
  ['sorted ids of a range', 'large', { projection: ID, range: [1, 149], sort: { n: '$desc' } }],
  ['everything', 'large', { projection: EVERYTHING }],
  ['joined ids', 'root', { projection: JOINED, range: [0, 149] }],
  ['joined everything', 'root', { projection: WHOLE }],
]

interface Bulk {
  readonly responses: readonly { readonly response: { readonly matchCount: number } }[]
}

await using service = await openServiceAt(process.argv[2]!)
const outcomes: Record<string, unknown> = {}
for (const [name, entity, body] of FOUND) {
  const { status, matchCount, processed, errors } = await service.data.find(ADMIN, { entity }, body)
  outcomes[name] = [status, matchCount, processed?.length, errors?.[0]?.errorCode]
}
const request = { entity: 'large', projection: ID }
const bulk = await service.data.bulk(ADMIN, { atomic: true, requests: [{ op: 'FIND', seq: 0, request }] })
outcomes['ids in a bulk'] = (JSON.parse(bulk) as Bulk).responses[0]!.response.matchCount
for (const [entity, projection] of [
  ['large', EVERYTHING],
  ['root', WHOLE],
] as const) {
  const lines = await service.data.stream(ADMIN, { entity }, { projection })
  if ('status' in lines) throw new Error(JSON.stringify(lines.errors))
  let size = 0
  for await (const line of lines) size += line.length
  outcomes[`${entity} streamed`] = Math.floor(size / 800_000)
}
console.log(JSON.stringify(outcomes))
