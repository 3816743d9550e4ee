/** A move takes along the past of documents, and from when on it is known. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/base/json/json.ts'
import { move } from '../../src/service/move/move.ts'
import { printResponse } from '../../src/service/response.ts'
import type { Service } from '../../src/service/service.ts'
import {
  ADMIN,
  EVERYTHING,
  documentsOf,
  metadataDocument,
  openServiceAt,
  textOf,
} from '../support/service.ts'
import { chooseStore, freshPlace } from '../support/store-kind.ts'

const PATHS = [
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
  ['sqlite', 'sqlite'],
  ['postgres', 'postgres'],
] as const

/** `_id` of each kind that a store keeps in its own form. */
const IDS: Readonly<Record<string, readonly [string, string, string]>> = {
  string: ['a', 'b', 'ü"\\x'],
  integer: ['1', '12', '3'],
  bigdecimal: ['1.50', '-2', '300000000000000000000.1'],
}

for (const [from, to] of PATHS) {
  test(`move: past versions go from ${from} to ${to}`, { timeout: 200_000 }, async () => {
    chooseStore(from)
    await using source = await freshPlace(from)
    await using target = await freshPlace(to)
    const moment = await fill(source.location)
    const there = await contentsOf(source.location, moment)
    assert.ok(there.length > 10, JSON.stringify(there))
    await move({ from: source.location, to: target.location })
    assert.deepEqual(await contentsOf(target.location, moment), there)
    await goOn(target.location, moment)
  })
}

/** Gives a moment at which other documents were there. */
async function fill(location: string): Promise<string> {
  await using service = await openServiceAt(location)
  let moment = ''
  for (const [type, ids] of Object.entries(IDS)) {
    const entity = `t_${type}`
    const fields = { _id: { type, constraints: { identity: true } }, s: { type: 'string' } }
    await service.metadata.create(
      ADMIN,
      { entity, version: '1.0.0' },
      metadataDocument(entity, fields, { info: { history: true } }),
    )
    await done(service.data.insert(ADMIN, { entity }, { data: ids.map((_id) => ({ _id, s: 'one' })) }))
    const update = { query: byId(ids[0]), update: { $set: { s: 'two' } }, projection: EVERYTHING }
    const updated = await done(service.data.update(ADMIN, { entity }, update))
    moment = textOf((JSON.parse(updated.resultMetadata![0]!) as JsonObject)['documentVersion'])
    await done(service.data.delete(ADMIN, { entity }, { query: byId(ids[1]) }))
  }
  const info = { name: 't_string', defaultVersion: '1.0.0', history: false }
  await service.metadata.updateInfo(ADMIN, 't_string', { ...info, indexes: [] })
  return moment
}

async function contentsOf(location: string, moment: string): Promise<readonly JsonObject[]> {
  await using service = await openServiceAt(location)
  const found: JsonObject[] = []
  for (const [type, ids] of Object.entries(IDS)) {
    const entity = `t_${type}`
    for (const id of ids) {
      const listed = await done(service.data.history(ADMIN, { entity, id }, new URLSearchParams()))
      found.push(...documentsOf(listed))
    }
    const asOf = await service.data.find(ADMIN, { entity }, { projection: EVERYTHING, asOf: moment })
    found.push(...documentsOf(asOf), ...(asOf.errors ?? []).map(({ msg }) => ({ msg })))
  }
  return found
}

async function goOn(location: string, moment: string): Promise<void> {
  await using service = await openServiceAt(location)
  const entity = 't_bigdecimal'
  await done(service.data.insert(ADMIN, { entity }, { data: [{ _id: -2, s: 'again' }] }))
  await done(service.data.delete(ADMIN, { entity }, { query: byId('1.50') }))
  const listed = await done(service.data.history(ADMIN, { entity, id: '-2' }, new URLSearchParams()))
  assert.deepEqual(
    documentsOf(listed).map(({ operation }) => operation),
    ['insert', 'delete', 'insert'],
  )
  const asOf = await done(service.data.find(ADMIN, { entity }, { projection: EVERYTHING, asOf: moment }))
  assert.equal(asOf.matchCount, 3)
}

function byId(id: string): JsonObject {
  return { field: '_id', op: '=', rvalue: id }
}

async function done(answer: ReturnType<Service['data']['find']>) {
  const response = await answer
  assert.equal(response.status, 'COMPLETE', printResponse(response))
  return response
}
