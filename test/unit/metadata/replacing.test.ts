/** Adding metadata and replacing it are two permissions. */
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller, Permission } from '../../../src/access/caller.ts'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { openRegistry } from '../../../src/metadata/registry.ts'
import { metadataService } from '../../../src/service/metadata/metadata.ts'
import type { MetadataService } from '../../../src/service/service.ts'
import { memoryMetadata } from './memory-metadata.ts'
import { ANYONE, CONFIGURED, assertRejects, metadataOf, versionOf } from './samples.ts'

const INSERT: readonly Permission[] = ['metadata.insert']
const BOTH: readonly Permission[] = ['metadata.insert', 'metadata.update']
const SNAPSHOT = '1.1.0-SNAPSHOT'
const closed = { access: { ...ANYONE, find: ['hr'] } }
const info = { defaultVersion: '1.0.0' }

function callerWith(permissions: readonly Permission[]): Caller {
  return { principal: 'ann', roles: new Set(), permissions: new Set(permissions), claims: {} }
}

const made = (version: string, more: JsonObject = {}, entityInfo: JsonObject = info): JsonObject =>
  metadataOf('item', { info: entityInfo, schema: { ...versionOf(version), ...closed, ...more } })

async function open(): Promise<MetadataService> {
  const registry = await openRegistry(memoryMetadata(), { ...CONFIGURED, now: () => new Date(0) })
  const service = metadataService(registry, CONFIGURED)
  for (const version of ['1.0.0', SNAPSHOT]) {
    await service.create(callerWith(BOTH), { entity: 'item', version }, made(version))
  }
  return service
}

const unique = { indexes: [{ name: 'x', unique: true, fields: [{ field: 'label' }] }] }

type Write = (service: MetadataService, caller: Caller) => Promise<unknown>
const create =
  (version: string, body: JsonObject, entity = 'item'): Write =>
  (service, caller) =>
    service.create(caller, { entity, version }, body)
const createSchema =
  (version: string, body: JsonObject): Write =>
  (service, caller) =>
    service.createSchema(caller, { entity: 'item', version }, body['schema'])

const REPLACING: readonly (readonly [rule: string, write: Write])[] = [
  ['another default version', create('2.0.0', made('2.0.0', {}, { defaultVersion: '2.0.0' }))],
  ['no default version', create('2.0.0', made('2.0.0', {}, {}))],
  ['other indexes', create('2.0.0', made('2.0.0', {}, { ...info, ...unique }))],
  ['a snapshot', create(SNAPSHOT, made(SNAPSHOT, { access: ANYONE }))],
  ['a snapshot by its schema', createSchema(SNAPSHOT, made(SNAPSHOT, { access: ANYONE }))],
]

for (const [rule, write] of REPLACING) {
  test(`create: ${rule} needs metadata.update as well`, async () => {
    const service = await open()
    const reader = callerWith(['metadata.find'])
    const all = () => ['1.0.0', SNAPSHOT].map((version) => service.get(reader, 'item', version))
    const before = all()
    await assertRejects(write(service, callerWith(INSERT)), 'crud:NoAccess')
    deepEqual(all(), before)
    await write(service, callerWith(BOTH))
  })
}

const ADDING: readonly (readonly [rule: string, write: Write])[] = [
  ['a new entity', create('1.0.0', metadataOf('other', { info }), 'other')],
  ['a new version with the entity info that is stored', create('2.0.0', made('2.0.0'))],
  ['a new schema', createSchema('2.0.0', made('2.0.0'))],
  ['what is there already', create('1.0.0', made('1.0.0'))],
  ['the snapshot that is there already', create(SNAPSHOT, made(SNAPSHOT))],
]

for (const [rule, write] of ADDING) {
  test(`create: ${rule} needs metadata.insert alone`, async () => {
    const service = await open()
    await write(service, callerWith(INSERT))
    await assertRejects(write(service, callerWith(['metadata.update'])), 'crud:NoAccess')
  })
}
