/** Metadata documents, and what the metadata tests build and check them with. */
import assert from 'node:assert/strict'

import { type Code, ServiceError } from '../../../src/base/errors.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import type { Datasources } from '../../../src/metadata/documents/datastore.ts'

export const CONFIGURED: Datasources = {
  backends: ['sqlite', 'postgres'],
  datasources: ['main', 'archive', 'wide'],
  backendOf: (datasource) => (datasource === 'wide' ? 'postgres' : 'sqlite'),
}

export const ANYONE = { insert: ['anyone'], update: ['anyone'], find: ['anyone'], delete: ['anyone'] }

export function schemaOf(fields: Json, more: JsonObject = {}): JsonObject {
  return {
    name: 'item',
    version: { value: '1.0.0', changelog: 'first' },
    status: { value: 'active' },
    access: ANYONE,
    fields,
    ...more,
  }
}

export function infoOf(more: JsonObject = {}): JsonObject {
  return { name: 'item', datastore: { backend: 'sqlite' }, ...more }
}

/** A metadata document of `name`, version 1.0.0 unless `schema` says otherwise. */
export function metadataOf(
  name: string,
  {
    info = {},
    schema = {},
    fields = { label: { type: 'string' } },
  }: { readonly info?: JsonObject; readonly schema?: JsonObject; readonly fields?: Json } = {},
): JsonObject {
  return { entityInfo: infoOf({ name, ...info }), schema: schemaOf(fields, { name, ...schema }) }
}

export function versionOf(value: string): JsonObject {
  return { version: { value, changelog: 'made' } }
}

/** JSON with all its digits. */
export function json(text: string): Json {
  return parseJson(text, 64)
}

export function assertCode(work: () => unknown, code: Code): void {
  assert.throws(work, (error) => {
    assert.ok(error instanceof ServiceError, String(error))
    assert.equal(error.code, code, error.message)
    return true
  })
}

export async function assertRejects(work: Promise<unknown>, code: Code): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof ServiceError, String(error))
    assert.equal(error.code, code, error.message)
    return true
  })
}
