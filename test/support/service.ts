/** A whole service on a fresh place, as every test of operations needs it; closed and removed by `await using`. */
import assert from 'node:assert/strict'
import { type Caller, PERMISSIONS } from '../../src/access/caller.ts'
import type { Code } from '../../src/base/errors.ts'
import { type Json, type JsonObject, isObject } from '../../src/base/json/json.ts'
import { parseTrusted } from '../../src/base/json/parse-trusted.ts'
import { DEFAULT_LIMITS, type Limits } from '../../src/base/limits.ts'
import { parseJson } from '../../src/base/json/parse-json.ts'
import { type ServiceOptions, openService } from '../../src/service/open.ts'
import { type DataResponse, printResponse } from '../../src/service/response.ts'
import type { Service } from '../../src/service/service.ts'
import { reusedPlace, storeKind } from './store-kind.ts'

export interface TestService extends AsyncDisposable {
  readonly service: Service
  /** Where its documents are; another service may be opened there when this one is closed. */
  readonly location: string
  /** Creates version 1.0.0 of an entity, open to anyone unless `more.schema.access` says otherwise. */
  define(entity: string, fields: Json, more?: Definition): Promise<void>
  /** Stores documents, all of which must be sound; gives them back as they are stored. */
  store(entity: string, documents: Json): Promise<readonly JsonObject[]>
  insert(entity: string, body: JsonObject, caller?: Caller): Promise<DataResponse>
  find(entity: string, body: JsonObject, caller?: Caller): Promise<DataResponse>
}

export interface Definition {
  readonly info?: JsonObject
  readonly schema?: JsonObject
}

export interface TestServiceOptions {
  /** Our own when absent. */
  readonly form?: Pick<ServiceOptions, 'dialect' | 'adaptMetadata'>
  /** Absent: a fault of our own fails the test that caused it. */
  readonly onInternalError?: (error: unknown) => void
  readonly limits?: Partial<Limits>
  readonly now?: () => Date
  /** Whether a server with threads stands in front of it. */
  readonly offloads?: boolean
  readonly events?: NonNullable<ServiceOptions['events']>
  readonly sinkMeter?: NonNullable<ServiceOptions['sinkMeter']>
}

export const ANYONE: JsonObject = {
  insert: ['anyone'],
  update: ['anyone'],
  find: ['anyone'],
  delete: ['anyone'],
}

export const EVERYTHING: JsonObject = { field: '*', recursive: true }

export const ADMIN: Caller = callerWith()

export function callerWith(...roles: readonly string[]): Caller {
  return { principal: 'tester', roles: new Set(roles), permissions: new Set(PERMISSIONS), claims: {} }
}

/** Outside of any test's reach, so that nothing can swallow it. */
export function failLoudly(error: unknown): void {
  process.nextTick(() => {
    throw error
  })
}

export async function openTestService(options: TestServiceOptions = {}): Promise<TestService> {
  await using opened = new AsyncDisposableStack()
  const { location } = opened.use(await reusedPlace())
  const service = opened.use(await openServiceAt(location, options))
  const owned = opened.move()
  return {
    service,
    location,
    async define(entity, fields, more = {}) {
      await service.metadata.create(
        ADMIN,
        { entity, version: '1.0.0' },
        metadataDocument(entity, fields, more),
      )
    },
    async store(entity, documents) {
      const response = await service.data.insert(
        ADMIN,
        { entity },
        { data: documents, projection: EVERYTHING },
      )
      assert.equal(response.status, 'COMPLETE', printResponse(response))
      return documentsOf(response)
    },
    insert: (entity, body, caller = ADMIN) => service.data.insert(caller, { entity }, body),
    find: (entity, body, caller = ADMIN) => service.data.find(caller, { entity }, body),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

export function openServiceAt(location: string, options: TestServiceOptions = {}): Promise<Service> {
  return openService({
    datasources: [{ name: 'default', location }],
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    onInternalError: options.onInternalError ?? failLoudly,
    ...options.form,
    ...(options.offloads && { offloads: true }),
    ...(options.now && { now: options.now }),
    ...(options.events && { events: options.events }),
    ...(options.sinkMeter && { sinkMeter: options.sinkMeter }),
  })
}

export function metadataDocument(
  entity: string,
  fields: Json,
  { info, schema }: Definition = {},
): JsonObject {
  return {
    entityInfo: { name: entity, defaultVersion: '1.0.0', datastore: { backend: storeKind() }, ...info },
    schema: {
      name: entity,
      version: { value: '1.0.0', changelog: 'first' },
      status: { value: 'active' },
      access: ANYONE,
      fields,
      ...schema,
    },
  }
}

/** JSON as a client would send it: every digit kept. */
export function json(text: string): Json {
  return parseJson(text, 64)
}

export function jsonObject(text: string): JsonObject {
  const value = json(text)
  assert.ok(isObject(value))
  return value
}

export function documentsOf(response: DataResponse): readonly JsonObject[] {
  return (response.processed ?? []).map((text) => parseTrusted(text) as JsonObject)
}

/** The documents that failed, as they are told. */
export function failedDocumentsOf(response: DataResponse): readonly JsonObject[] {
  return (response.dataErrors ?? []).map(({ data }) => parseTrusted(data!) as JsonObject)
}

/** The value, which must be a text. */
export function textOf(value: Json | undefined): string {
  assert.ok(typeof value === 'string', JSON.stringify(value))
  return value
}

/** The code of the one error that ended the request. */
export function codeOf(response: DataResponse): Code {
  assert.equal(response.status, 'ERROR', printResponse(response))
  const [error, ...others] = response.errors ?? []
  assert.ok(error && others.length === 0, printResponse(response))
  return error.errorCode as Code
}

/** The codes of everything wrong with each failed document, in order. */
export function dataErrorCodes(response: DataResponse): readonly (readonly Code[])[] {
  assert.deepEqual(response.errors ?? [], [])
  return (response.dataErrors ?? []).map(({ errors }) => errors.map(({ errorCode }) => errorCode as Code))
}
