/** A process with a small heap that reads or changes far more in a given store, and prints the outcome of each operation. */
import type { JsonObject } from '../../src/base/json/json.ts'
import { ADMIN, EVERYTHING, openServiceAt } from '../support/service.ts'

const ID = { field: '_id' }
/** What is joined is shown where it is named. */
const WHOLE = [EVERYTHING, { field: 'parts', recursive: true }]
const JOINED = [ID, { field: 'parts.*._id' }]
const FOUND: Readonly<Record<string, readonly (readonly [name: string, body: JsonObject])[]>> = {
  large: [
    ['ids', { projection: ID }],
    ['sorted ids of a range', { projection: ID, range: [1, 149], sort: { n: '$desc' } }],
    ['everything', { projection: EVERYTHING }],
  ],
  root: [
    ['ids', { projection: JOINED, range: [0, 149] }],
    ['everything', { projection: WHOLE }],
  ],
}

interface Bulk {
  readonly responses: readonly { readonly response: { readonly matchCount: number } }[]
}

const [location = '', part] = process.argv.slice(2)
const entity = part === 'joined' ? 'root' : 'large'
await using service = await openServiceAt(location)
const outcomes: Record<string, unknown> = {}
await (part === 'changed' ? change() : read())
console.log(JSON.stringify(outcomes))

async function read(): Promise<void> {
  for (const [name, body] of FOUND[entity]!) {
    const { status, matchCount, processed, errors } = await service.data.find(ADMIN, { entity }, body)
    outcomes[name] = [status, matchCount, processed?.length, errors?.[0]?.errorCode]
  }
  if (entity === 'large') {
    const request = { entity, projection: ID }
    const bulk = await service.data.bulk(ADMIN, { atomic: true, requests: [{ op: 'FIND', seq: 0, request }] })
    outcomes['ids in a bulk'] = (JSON.parse(bulk) as Bulk).responses[0]!.response.matchCount
  }
  const projection = entity === 'large' ? EVERYTHING : WHOLE
  const lines = await service.data.stream(ADMIN, { entity }, { projection })
  if ('status' in lines) throw new Error(JSON.stringify(lines.errors))
  let size = 0
  for await (const line of lines) size += line.length
  outcomes['streamed'] = Math.floor(size / 800_000)
}

async function change(): Promise<void> {
  const indexes = [{ name: 'n', unique: true, fields: [{ field: 'n' }] }]
  await service.metadata.updateInfo(ADMIN, 'large', { name: 'large', defaultVersion: '1.0.0', indexes })
  const query = { field: 'n', op: '>=', rvalue: 0 }
  const { status, modifiedCount } = await service.data.delete(ADMIN, { entity: 'large' }, { query })
  outcomes['deleted'] = [status, modifiedCount]
}
