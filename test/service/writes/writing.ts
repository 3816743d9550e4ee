/** What the tests of writes share: the operations in short, and what is stored whoever asks. */
import assert from 'node:assert/strict'
import type { Caller } from '../../../src/access/caller.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import { type DataResponse, printResponse } from '../../../src/service/response.ts'
import { ADMIN, EVERYTHING, callerWith, documentsOf, textOf } from '../../support/service.ts'
import type { Tenant } from '../../support/shared-service.ts'

export const BOSS = callerWith('boss')
export const CLERK = callerWith('clerk')

/** Only the boss may read, write, or do what is named. */
export const forBoss = (...operations: readonly string[]): JsonObject => ({
  access: Object.fromEntries(operations.map((operation) => [operation, ['boss']])),
})

export const byId = (id: Json): JsonObject => ({ field: '_id', op: '=', rvalue: id })

export function save(tester: Tenant, body: JsonObject, caller: Caller = ADMIN): Promise<DataResponse> {
  return tester.service.data.save(caller, { entity: tester.entity }, { projection: EVERYTHING, ...body })
}

export function update(tester: Tenant, body: JsonObject, caller: Caller = ADMIN): Promise<DataResponse> {
  const all = { query: { $and: [] }, projection: EVERYTHING }
  return tester.service.data.update(caller, { entity: tester.entity }, { ...all, ...body })
}

export function remove(tester: Tenant, query: Json, caller: Caller = ADMIN): Promise<DataResponse> {
  return tester.service.data.delete(caller, { entity: tester.entity }, { query })
}

/** Every document by its `_id`, as the boss sees them through a version. */
export async function held(tester: Tenant, version = '1.0.0'): Promise<Record<string, JsonObject>> {
  const body = { projection: EVERYTHING, sort: { _id: '$asc' } }
  const response = await tester.service.data.find(BOSS, { entity: tester.entity, version }, body)
  assert.equal(response.status, 'COMPLETE', printResponse(response))
  return Object.fromEntries(documentsOf(response).map((each) => [keyOf(each), bare(each)]))
}

function keyOf({ _id }: JsonObject): string {
  return typeof _id === 'number' ? `${_id}` : textOf(_id)
}

/** Without what the service adds. */
export function bare(document: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(document), (key, value: unknown) =>
    key.endsWith('#') || key === 'objectType' ? undefined : value,
  ) as JsonObject
}

export function counts({ status, matchCount, modifiedCount }: DataResponse): readonly unknown[] {
  return [status, matchCount, modifiedCount]
}

export async function versionsOf(tester: Tenant): Promise<readonly string[]> {
  const response = await tester.find(tester.entity, { projection: EVERYTHING, sort: { _id: '$asc' } })
  return response.resultMetadata!.map((each) => textOf((parseTrusted(each) as JsonObject)['documentVersion']))
}
