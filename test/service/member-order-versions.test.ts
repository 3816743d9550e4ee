/** Every version shows members in the order in which it lists them, whatever version wrote a document. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import type { DataResponse } from '../../src/service/response.ts'
import { SEED } from '../support/seed.ts'
import { type Chance, chanceFrom } from '../support/seeded.ts'
import { ADMIN, EVERYTHING, callerWith, metadataDocument } from '../support/service.ts'
import { type Tenant, openTenant } from '../support/shared-service.ts'
import { onEveryStore } from '../support/store-kind.ts'

const TEXT = { type: 'string' }
const NUMBER = { type: 'integer' }
const TWO = '2.0.0'

async function define(
  { entity, service }: Pick<Tenant, 'entity' | 'service'>,
  versions: Readonly<Record<string, JsonObject>>,
  info: JsonObject = {},
): Promise<void> {
  for (const [value, fields] of Object.entries(versions)) {
    const schema = { version: { value, changelog: 'made' } }
    const document = metadataDocument(entity, fields, { info, schema })
    await service.metadata.create(ADMIN, { entity, version: value }, document)
  }
}

function named(entity: string, response: DataResponse): readonly string[] {
  assert.ok(response.processed, JSON.stringify(response))
  return response.processed.map((text) => text.replaceAll(`"${entity}"`, '"E"'))
}

const byId = (id: string): JsonObject => ({ field: '_id', op: '=', rvalue: id })

const FIRST: JsonObject = {
  b: TEXT,
  a: TEXT,
  o: { type: 'object', fields: { y: NUMBER, x: NUMBER } },
  lines: { type: 'array', items: { type: 'object', fields: { n: NUMBER, m: NUMBER } } },
  free: { type: 'any' },
}
const SECOND: JsonObject = {
  free: { type: 'any' },
  lines: { type: 'array', items: { type: 'object', fields: { m: NUMBER, n: NUMBER } } },
  o: { type: 'object', fields: { x: NUMBER, y: NUMBER } },
  a: TEXT,
  b: TEXT,
}
const SENT: JsonObject = { free: { z: 1, c: 2 }, a: '1', o: { x: 1, y: 2 }, lines: [{ m: 1, n: 2 }], b: '2' }
const BODY_ONE = '"b":"2","a":"1","o":{"y":2,"x":1},"lines":[{"n":2,"m":1}],"lines#":1,"free":{"z":1,"c":2}}'
const BODY_TWO = '"free":{"z":1,"c":2},"lines":[{"m":1,"n":2}],"lines#":1,"o":{"x":1,"y":2},"a":"1","b":"2"}'
const asOne = (id: string): string => `{"objectType":"E","_id":"${id}",${BODY_ONE}`
const asTwo = (id: string): string => `{"objectType":"E","_id":"${id}",${BODY_TWO}`

type Read = (tenant: Tenant, version: string) => Promise<readonly string[]>

const READS: Readonly<Record<string, Read>> = {
  find: async ({ entity, service }, version) =>
    named(
      entity,
      await service.data.find(ADMIN, { entity, version }, { projection: EVERYTHING, sort: { _id: '$asc' } }),
    ),
  'find with a condition': async ({ entity, service }, version) => {
    const query = { field: 'a', op: '=', rvalue: '1' }
    const body = { query, projection: EVERYTHING, sort: { _id: '$asc' } }
    return named(entity, await service.data.find(ADMIN, { entity, version }, body))
  },
  'GET find': async ({ entity, service }, version) => {
    const parameters = new URLSearchParams({ P: '*:1r', S: '_id:a' })
    return named(entity, await service.data.simpleFind(ADMIN, { entity, version }, parameters))
  },
  'find as of a moment': async ({ entity, service }, version) => {
    const asOf = new Date(Date.now() + 1000).toISOString()
    const body = { projection: EVERYTHING, sort: { _id: '$asc' }, asOf }
    return named(entity, await service.data.find(ADMIN, { entity, version }, body))
  },
  stream: async ({ entity, service }, version) => {
    const body = { projection: EVERYTHING, sort: { _id: '$asc' } }
    const lines = await service.data.stream(ADMIN, { entity, version }, body)
    assert.ok(Symbol.asyncIterator in lines)
    const found: string[] = []
    for await (const line of lines) {
      const { processed } = JSON.parse(line) as { processed?: JsonObject }
      if (processed) found.push(JSON.stringify(processed).replaceAll(`"${entity}"`, '"E"'))
    }
    return found
  },
  'plain documents': async ({ entity, service }, version) => {
    const parameters = new URLSearchParams({ sort: '_id' })
    const { text } = await service.documents.list(ADMIN, { entity, version }, { parameters })
    const { items } = JSON.parse(text) as { items: readonly JsonObject[] }
    return items.map((each) => JSON.stringify(each).replaceAll(`"${entity}"`, '"E"'))
  },
  'plain document': async ({ entity, service }, version) => {
    const texts = ['1', '2', '3'].map(async (id) => {
      const parameters = new URLSearchParams()
      const { text } = await service.documents.get(ADMIN, { entity, version, id }, { parameters })
      return text.replaceAll(`"${entity}"`, '"E"')
    })
    return await Promise.all(texts)
  },
  history: async ({ entity, service }, version) => {
    const texts = ['1', '2', '3'].map(async (id) => {
      const target = { entity, version, id }
      const response = await service.data.history(ADMIN, target, new URLSearchParams())
      return named(entity, response).map((text) => /"document":(.*)\}$/.exec(text)![1]!)[0]!
    })
    return await Promise.all(texts)
  },
  'saved search': async (tenant, version) => {
    const { entity, service } = tenant
    const data = {
      name: `all ${version}`,
      entity,
      versions: [version],
      query: { field: 'a', op: '=', rvalue: '1' },
      projection: EVERYTHING,
      sort: { _id: '$asc' },
    }
    await service.data.insert(callerWith('admin'), { entity: 'savedSearch' }, { data })
    const target = { entity, version, name: data.name }
    return named(entity, await service.data.search(ADMIN, target, {}, new URLSearchParams()))
  },
  'answer to an update': async ({ entity, service }, version) => {
    const response = await service.data.update(
      ADMIN,
      { entity, version },
      { query: { field: '_id', op: '!=', rvalue: '' }, update: { $set: { a: '1' } }, projection: EVERYTHING },
    )
    return named(entity, response).toSorted()
  },
}

onEveryStore(() => {
  for (const [way, read] of Object.entries(READS)) {
    test(`member order: each version shows its own order, by ${way}`, async () => {
      await using tenant = await openTenant()
      const { entity, service } = tenant
      await define(tenant, { '1.0.0': FIRST, [TWO]: SECOND }, { history: true })
      const insert = (_id: string, version: string): Promise<DataResponse> =>
        service.data.insert(ADMIN, { entity, version }, { data: { _id, ...SENT } })
      await insert('1', '1.0.0')
      await insert('2', TWO)
      await insert('3', TWO)
      const target = { entity, version: '1.0.0' }
      await service.data.save(ADMIN, target, { data: { _id: '3', ...SENT } })
      assert.deepEqual(await read(tenant, '1.0.0'), ['1', '2', '3'].map(asOne))
      assert.deepEqual(await read(tenant, TWO), ['1', '2', '3'].map(asTwo))
    })
  }

  test('member order: answers to inserts and saves are in the order of their version', async () => {
    await using tenant = await openTenant()
    const { entity, service } = tenant
    await define(tenant, { '1.0.0': FIRST, [TWO]: SECOND })
    for (const [version, expected] of [
      ['1.0.0', asOne],
      [TWO, asTwo],
    ] as const) {
      const target = { entity, version }
      const data = { _id: version, ...SENT }
      const inserted = await service.data.insert(ADMIN, target, { data, projection: EVERYTHING })
      assert.deepEqual(named(entity, inserted), [expected(version)])
      const changed = { ...data, a: '0' }
      const saved = await service.data.save(ADMIN, target, { data: changed, projection: EVERYTHING })
      assert.deepEqual(named(entity, saved), [expected(version).replace('"a":"1"', '"a":"0"')])
    }
  })

  test('member order: embedded documents are in the order of the version that the reference names', async () => {
    await using tenant = await openTenant()
    const { entity, service } = tenant
    await define(tenant, { '1.0.0': FIRST, [TWO]: SECOND })
    await service.data.insert(ADMIN, { entity, version: '1.0.0' }, { data: { _id: 'x', ...SENT } })
    await service.data.insert(ADMIN, { entity, version: TWO }, { data: { _id: 'y', ...SENT } })
    for (const [versionValue, expected] of [
      ['1.0.0', asOne],
      [TWO, asTwo],
    ] as const) {
      const holder = `${entity}h${versionValue[0]}`
      const query = { field: '_id', op: '=', rfield: '$parent.to' }
      const to = { type: 'reference', entity, versionValue, query }
      await define({ entity: holder, service }, { '1.0.0': { ref: to, to: TEXT } })
      const data = [
        { _id: '1', to: 'x' },
        { _id: '2', to: 'y' },
      ]
      await service.data.insert(ADMIN, { entity: holder }, { data })
      for (const projection of [EVERYTHING, [EVERYTHING, { field: 'ref', recursive: true }]] as Json[]) {
        const body = { projection, sort: { _id: '$asc' } }
        const texts = named(entity, await service.data.find(ADMIN, { entity: holder }, body))
        if (!texts[0]!.includes('"ref"')) continue
        const shown = texts.map((text) => /"ref":\[(.*)\]\}$/.exec(text)![1])
        assert.deepEqual(shown, [expected('x'), expected('y')])
      }
    }
  })

  test('member order: events are in the order of their version', async () => {
    await using tenant = await openTenant()
    const { entity, service } = tenant
    const hooks = [
      { name: 'all', actions: ['insert', 'update'], configuration: { includeProjection: EVERYTHING } },
    ]
    await define(tenant, { '1.0.0': FIRST, [TWO]: SECOND }, { hooks })
    await service.data.insert(ADMIN, { entity, version: '1.0.0' }, { data: { _id: '1', ...SENT } })
    const change = { query: byId('1'), update: { $set: { a: '0' } } }
    await service.data.update(ADMIN, { entity, version: TWO }, change)
    const events: string[] = []
    for (let since = 0; events.length < 2;) {
      const asked = new URLSearchParams({ entity, wait: '5', since: String(since) })
      const page = await service.events.read(ADMIN, asked)
      assert.ok(page.events.length > 0)
      events.push(...page.events)
      since = page.next
    }
    const included = events.map(
      (text) => /"include":(\{.*\})\}$/.exec(text.replaceAll(`"${entity}"`, '"E"'))![1],
    )
    assert.deepEqual(included, [asOne('1'), asTwo('1').replace('"a":"1"', '"a":"0"')])
    const watched = events.map((text) => (JSON.parse(text) as { after: JsonObject }).after)
    const [one, two] = [FIRST, SECOND].map((fields) => ['objectType', '_id', ...Object.keys(fields)])
    assert.deepEqual(watched.map(Object.keys), [one, two])
    assert.equal(JSON.stringify(watched[1]!['o']), '{"x":1,"y":2}')
  })

  test('member order: documents of disabled and of replaced versions are shown in the order of the reader', async () => {
    await using tenant = await openTenant()
    const { entity, service } = tenant
    const draft = '2.0.0-SNAPSHOT'
    await define(tenant, { '1.0.0': FIRST, [draft]: SECOND })
    await service.data.insert(ADMIN, { entity, version: draft }, { data: { _id: '1', ...SENT } })
    await service.metadata.setStatus(ADMIN, { entity, version: draft }, { status: 'disabled' })
    await service.data.insert(ADMIN, { entity, version: '1.0.0' }, { data: { _id: '2', ...SENT } })
    assert.deepEqual(await READS['find']!(tenant, '1.0.0'), ['1', '2'].map(asOne))
    await service.metadata.setStatus(ADMIN, { entity, version: draft }, { status: 'active' })
    const moved = { ...SECOND, o: FIRST['o']! }
    await define(tenant, { [draft]: moved })
    const expected = ['1', '2'].map(asTwo).map((text) => text.replace('{"x":1,"y":2}', '{"y":2,"x":1}'))
    assert.deepEqual(await READS['find']!(tenant, draft), expected)
  })

  test('member order: documents that were sent to a field of any type are shown in the order of the reader', async () => {
    await using tenant = await openTenant()
    const { entity, service } = tenant
    await define(tenant, { '1.0.0': { o: FIRST['o']! }, [TWO]: { o: { type: 'any' } } })
    const target = { entity, version: TWO }
    await service.data.insert(ADMIN, target, { data: { _id: '1', o: { x: 1, y: 2 } } })
    const read = READS['find']!
    assert.deepEqual(await read(tenant, TWO), ['{"objectType":"E","_id":"1","o":{"x":1,"y":2}}'])
    assert.deepEqual(await read(tenant, '1.0.0'), ['{"objectType":"E","_id":"1","o":{"y":2,"x":1}}'])
  })

  const seed = SEED
  test(`member order: random versions, writes and reads, seed ${seed}`, async () => {
    const chance = chanceFrom(seed)
    for (let round = 0; round < 12; round++) {
      await using tenant = await openTenant()
      const entity = `${tenant.entity}r${round}`
      await checkRound({ ...tenant, entity }, chance, `seed ${seed}, round ${round}`)
    }
  })
})

const NAMES = ['a', 'b', 'c', 'd', 'e', 'tags', 'o', 'lines']

async function checkRound(
  { entity, service }: Pick<Tenant, 'entity' | 'service'>,
  chance: Chance,
  label: string,
): Promise<void> {
  const versions = Array.from({ length: 2 + chance(2) }, (_, i) => ({
    version: `${i + 1}.0.0`,
    fields: randomFields(chance, NAMES),
  }))
  const data = { _id: 'x' }
  for (const [i, { version, fields }] of versions.entries()) {
    await define({ entity, service }, { [version]: fields })
    if (i === 0) await service.data.insert(ADMIN, { entity, version }, { data })
    for (let step = 0; step < 4; step++) {
      const writer = versions[chance(i + 1)]!
      await write({ entity, service }, writer, chance)
      for (const reader of versions.slice(0, i + 1)) {
        const target = { entity, version: reader.version }
        const { processed } = await service.data.find(ADMIN, target, { projection: EVERYTHING })
        const shown = JSON.parse(processed![0]!) as JsonObject
        const { objectType: _, _id, ...rest } = shown
        assert.deepEqual(Object.keys(shown).slice(0, 2), ['objectType', '_id'], label)
        assertOrder(rest, reader.fields, `${label}: ${processed![0]!} as ${JSON.stringify(reader.fields)}`)
      }
    }
  }
}

function randomFields(chance: Chance, names: readonly string[]): JsonObject {
  const chosen = names.filter(() => chance(4) > 0)
  const order = chosen.map((name) => [chance(1000), name] as const).sort(([a], [b]) => a - b)
  return Object.fromEntries(
    order.map(([, name]): [string, Json] => {
      if (name === 'tags') return [name, { type: 'array', items: TEXT }]
      if (name === 'o') return [name, { type: 'object', fields: innerFields(chance) }]
      if (name !== 'lines') return [name, TEXT]
      return [name, { type: 'array', items: { type: 'object', fields: innerFields(chance) } }]
    }),
  )
}

function innerFields(chance: Chance): JsonObject {
  const fields = randomFields(chance, ['a', 'b', 'c', 'tags'])
  return Object.keys(fields).length === 0 ? { a: TEXT } : fields
}

interface Writer {
  readonly version: string
  readonly fields: JsonObject
}

async function write(
  { entity, service }: Pick<Tenant, 'entity' | 'service'>,
  { version, fields }: Writer,
  chance: Chance,
): Promise<void> {
  const target = { entity, version }
  const sent = randomDocument(fields, chance)
  const body = chance(2) === 0 ? { data: { _id: 'x', ...sent } } : undefined
  const response = body
    ? await service.data.save(ADMIN, target, body)
    : await service.data.update(ADMIN, target, { query: byId('x'), update: { $set: sent } })
  assert.equal(response.status, 'COMPLETE', JSON.stringify(response))
}

/** A value for most fields, in any order. */
function randomDocument(fields: JsonObject, chance: Chance): JsonObject {
  const made = Object.entries(fields)
    .filter(() => chance(4) > 0)
    .map(([name, field]) => [chance(1000), name, field] as const)
    .sort(([a], [b]) => a - b)
  const document = Object.fromEntries(
    made.map(([, name, field]): [string, Json] => {
      const { type, fields: inner, items } = field as JsonObject
      if (type === 'object') return [name, randomDocument(inner as JsonObject, chance)]
      if (type !== 'array') return [name, String(chance(9))]
      const elements = (items as JsonObject)['fields'] as JsonObject | undefined
      const make = (): Json => (elements ? randomDocument(elements, chance) : 't')
      return [name, Array.from({ length: 1 + chance(2) }, make)]
    }),
  )
  return Object.keys(document).length > 0 ? document : { [Object.keys(fields)[0] ?? 'objectType']: null }
}

function assertOrder(value: JsonObject, fields: JsonObject, label: string): void {
  const expected = Object.keys(fields).flatMap((name) => {
    const names = (fields[name] as JsonObject)['type'] === 'array' ? [name, `${name}#`] : [name]
    return names.filter((each) => Object.hasOwn(value, each))
  })
  assert.deepEqual(Object.keys(value), expected, label)
  for (const [name, field] of Object.entries(fields)) {
    const { type, fields: inner, items } = field as JsonObject
    const held = value[name]
    if (held === undefined) continue
    if (type === 'object') assertOrder(held as JsonObject, inner as JsonObject, label)
    const elements = type === 'array' ? (items as JsonObject)['fields'] : undefined
    if (elements) for (const each of held as JsonObject[]) assertOrder(each, elements as JsonObject, label)
  }
}
