import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '../../src/access/caller.ts'
import type { Code } from '../../src/base/errors.ts'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import type { DataResponse } from '../../src/service/response.ts'
import { startTestServer } from '../support/server.ts'
import {
  ADMIN,
  EVERYTHING,
  callerWith,
  codeOf,
  documentsOf,
  jsonObject,
  metadataDocument,
  openServiceAt,
  openTestService,
} from '../support/service.ts'
import { type Tenant, openTenant } from '../support/shared-service.ts'
import { freshPlace, onEveryStore } from '../support/store-kind.ts'

const KEEPER = callerWith('admin')

const FIELDS: JsonObject = {
  city: { type: 'string' },
  size: { type: 'integer' },
  price: { type: 'bigdecimal' },
  open: { type: 'boolean' },
  since: { type: 'date' },
  secret: { type: 'string', access: { find: ['boss'] } },
}

const SHOPS: Json = [
  { _id: '1', city: 'Bern', size: 5, open: true, since: '2020-01-01T00:00:00Z', secret: 'x' },
  { _id: '2', city: 'Basel', size: 7, open: false, since: '2021-01-01T00:00:00Z', secret: 'y' },
  { _id: '3', city: 'Bern', size: 9, open: true, since: '2022-01-01T00:00:00Z', secret: 'y' },
  { _id: '4', city: 'a"},{"b', size: 1, open: false, since: '2023-01-01T00:00:00Z', secret: 'x' },
]

async function openShops(): Promise<Tenant> {
  return await filled(await openTenant())
}

/** For who changes what others share. */
async function openShopsApart(): Promise<Tenant> {
  return await filled({ ...(await openTestService()), entity: 'shop' })
}

async function filled(tester: Tenant): Promise<Tenant> {
  await tester.define(tester.entity, FIELDS)
  await tester.store(tester.entity, SHOPS)
  return tester
}

/** Saves searches for shops, unless they say otherwise. */
async function save(tester: Tenant, ...searches: readonly JsonObject[]): Promise<void> {
  const data = searches.map((each) => ({ name: 's', entity: tester.entity, ...each }))
  const response = await tester.insert('savedSearch', { data }, KEEPER)
  assert.equal(response.status, 'COMPLETE', JSON.stringify(response))
}

interface Run {
  readonly name?: string
  readonly version?: string
  readonly overrides?: string
  readonly caller?: Caller
}

function run(tester: Tenant, body?: Json, asked: Run = {}): Promise<DataResponse> {
  const { name = 's', version, overrides = '', caller = ADMIN } = asked
  const target = { entity: tester.entity, name, ...(version !== undefined && { version }) }
  return tester.service.data.search(caller, target, body, new URLSearchParams(overrides))
}

function simple(tester: Tenant, parameters: string): Promise<DataResponse> {
  const target = { entity: tester.entity, name: 's' }
  return tester.service.data.simpleSearch(ADMIN, target, new URLSearchParams(parameters))
}

function ids(response: DataResponse): readonly Json[] {
  assert.equal(response.status, 'COMPLETE', JSON.stringify(response))
  return documentsOf(response).map((document) => document['_id']!)
}

const is = (field: string, rvalue: Json): JsonObject => ({ field, op: '=', rvalue })
const parameter = (name: string, type?: string): JsonObject => ({ name, ...(type !== undefined && { type }) })
const ALL: JsonObject = { field: '_id', op: '!=', rvalue: null }

onEveryStore(() => {
  test('savedSearch: the entity is there from the first start, with its access', async () => {
    await using tester = await openTestService()
    const document = tester.service.metadata.get(ADMIN, 'savedSearch', 'default') as {
      schema: { access: Json }
    }
    assert.deepEqual(document.schema.access, {
      insert: ['admin'],
      update: ['admin'],
      find: ['anyone'],
      delete: ['admin'],
    })
    const history = (await tester.service.metadata.history(ADMIN, 'savedSearch')) as JsonObject[]
    assert.deepEqual(
      history.map(({ principal, action }) => [principal, action]),
      [['smalt', 'create']],
    )
    const data = { name: 's', entity: 'shop', query: ALL }
    assert.equal(codeOf(await tester.insert('savedSearch', { data })), 'crud:NoAccess')
  })

  test('savedSearch: made once; removed, it stays removed', async () => {
    await using place = await freshPlace()
    const entities = async (change?: boolean): Promise<Json> => {
      await using service = await openServiceAt(place.location)
      const before = service.metadata.names(ADMIN, undefined)
      if (change) {
        const target = { entity: 'savedSearch', version: '1.0.0' }
        await service.metadata.clearDefault(ADMIN, 'savedSearch')
        await service.metadata.setStatus(ADMIN, target, { status: 'disabled' })
        await service.metadata.remove(ADMIN, 'savedSearch')
      }
      return before
    }
    assert.deepEqual(await entities(), { entities: ['savedSearch'] })
    assert.deepEqual(await entities(true), { entities: ['savedSearch'] })
    assert.deepEqual(await entities(), { entities: [] })
  })

  test('search: GET takes "s" and "p" as values where the search declares them', async () => {
    await using tester = await openShops()
    const query = { $and: [is('city', '${s}'), { field: 'size', op: '>=', rvalue: '${p}' }] }
    const parameters = [parameter('s'), parameter('p', 'integer')]
    await save(tester, { query, parameters, sort: { _id: '$asc' } })
    assert.deepEqual(ids(await simple(tester, 's=Bern&p=5')), ['1', '3'])
    assert.deepEqual(ids(await simple(tester, 's=Bern&p=5&S=_id:d&P=_id:1')), ['3', '1'])
    assert.equal(codeOf(await simple(tester, 's=Bern&p=5&s=Basel')), 'crud:InvalidRequest')
  })

  test('search: GET takes "s" and "p" as parts of the find where the search does not declare them', async () => {
    await using tester = await openShops()
    await save(tester, { query: is('city', '${city}'), parameters: [parameter('city')] })
    assert.deepEqual(ids(await simple(tester, 'city=Bern&s=_id:d&p=_id:1')), ['3', '1'])
    assert.equal(codeOf(await simple(tester, 'city=Bern&s=_id:d&S=_id:a')), 'crud:InvalidRequest')
    assert.equal(codeOf(await simple(tester, 'city=Bern&p=_id:1&P=_id:1')), 'crud:InvalidRequest')
  })

  test('search: runs the stored query, projection, sort and range', async () => {
    await using tester = await openShops()
    await save(tester, {
      query: { field: 'size', op: '>', rvalue: 1 },
      projection: [{ field: 'city' }, { field: 'size' }],
      sort: { size: '$desc' },
      range: [0, 1],
    })
    const response = await run(tester)
    assert.deepEqual(documentsOf(response), [
      { city: 'Bern', size: 9 },
      { city: 'Basel', size: 7 },
    ])
    const { entity, entityVersion, matchCount } = response
    assert.deepEqual(
      { entity, entityVersion, matchCount },
      { entity: tester.entity, entityVersion: '1.0.0', matchCount: 3 },
    )
  })

  test('search: without a stored projection everything comes that the caller may read', async () => {
    await using tester = await openShops()
    await save(tester, { query: is('_id', '1') })
    const [document] = documentsOf(await run(tester))
    assert.deepEqual(Object.keys(document!).sort(), ['_id', 'city', 'objectType', 'open', 'since', 'size'])
  })

  const BOUND: readonly [
    rule: string,
    type: string | undefined,
    query: JsonObject,
    value: Json,
    found: Json,
  ][] = [
    ['text', undefined, is('city', '${v}'), 'Bern', ['1', '3']],
    ['an integer', 'integer', is('size', '${v}'), 7, ['2']],
    ['an integer as text', 'integer', is('size', '${v}'), '7', ['2']],
    ['a number for text', 'string', is('city', '${v}'), 7, []],
    ['a truth value', 'boolean', is('open', '${v}'), 'true', ['1', '3']],
    ['a date', 'date', { field: 'since', op: '>=', rvalue: '${v}' }, '2022-01-01T01:00:00+01:00', ['3', '4']],
    ['a list', 'any', { field: 'city', op: '$in', values: '${v}' }, ['Basel', 'Bern'], ['1', '2', '3']],
    ['null', 'string', is('city', '${v}'), null, []],
    ['spaces in the placeholder', undefined, is('city', '${ v }'), 'Basel', ['2']],
    ['part of a text', undefined, { field: 'city', regex: '^B${v}' }, 'a', ['2']],
    ['a number in a text', 'integer', { field: '_id', regex: '^${v}$' }, 3, ['3']],
    ['a name of a field', undefined, is('${v}', 'Bern'), 'city', ['1', '3']],
  ]
  test('search: parameters are bound as typed values', async () => {
    await using tester = await openShops()
    for (const [i, [rule, type, query, value, found]] of BOUND.entries()) {
      await save(tester, { name: `s${i}`, parameters: [parameter('v', type)], query })
      assert.deepEqual(ids(await run(tester, { v: value }, { name: `s${i}` })), found, rule)
    }
  })

  test('search: all digits of a parameter survive', async () => {
    await using tester = await openShops()
    await tester.store(tester.entity, [jsonObject('{"_id":"big","price":12345678901234567890.10}')])
    await save(tester, { parameters: [parameter('v', 'bigdecimal')], query: is('price', '${v}') })
    assert.deepEqual(ids(await run(tester, jsonObject('{"v":12345678901234567890.10}'))), ['big'])
    assert.deepEqual(ids(await simple(tester, 'v=12345678901234567890.1')), ['big'])
    assert.deepEqual(ids(await simple(tester, 'v=12345678901234567890')), [])
  })

  test('search: parts stored as text are parsed first, with placeholders inside and outside quotes', async () => {
    await using tester = await openShops()
    await save(tester, {
      parameters: [parameter('city'), parameter('least', 'integer'), parameter('by')],
      query:
        '{"$and":[{"field":"city","op":"=","rvalue":"${city}"},{"field":"size","op":">","rvalue":${least}}]}',
      projection: '[{"field":"_id"},{"field":"${by}"}]',
      sort: '{"size":"$desc"}',
    })
    const response = await run(tester, { city: 'Bern', least: 1, by: 'size' })
    assert.deepEqual(documentsOf(response), [
      { _id: '3', size: 9 },
      { _id: '1', size: 5 },
    ])
  })

  const HOSTILE: readonly string[] = [
    'Bern"},{"field":"secret","op":"=","rvalue":"x',
    '"',
    '\\',
    '"}]}',
    '{"$or":[]}',
    '${other}',
    "$&$`$'$$",
    '","op":"!=","rvalue":"',
  ]
  test('search: a value stays a value, whatever it holds', async () => {
    await using tester = await openShops()
    const parameters = [parameter('v'), { name: 'other', optional: true, defaultValue: 'Bern' }]
    await save(
      tester,
      { name: 'json', parameters, query: is('city', '${v}') },
      { name: 'text', parameters, query: '{"field":"city","op":"=","rvalue":"${v}"}' },
      { name: 'bare', parameters, query: '{"field":"city","op":"=","rvalue":${v}}' },
      { name: 'inside', parameters, query: is('city', 'a${v}b') },
    )
    for (const value of HOSTILE) {
      await tester.store(tester.entity, [
        { _id: 'whole', city: value },
        { _id: 'inside', city: `a${value}b` },
      ])
      for (const name of ['json', 'text', 'bare'])
        assert.deepEqual(ids(await run(tester, { v: value }, { name })), ['whole'], value)
      assert.deepEqual(ids(await run(tester, { v: value }, { name: 'inside' })), ['inside'], value)
      const query = { field: '_id', op: '$in', values: ['whole', 'inside'] }
      await tester.service.data.delete(ADMIN, { entity: tester.entity }, { query })
    }
    assert.deepEqual(ids(await run(tester, { v: '"},{"' }, { name: 'inside' })), ['4'])
  })

  test('search: a value that is an object takes no place of text, and becomes no query unless so declared', async () => {
    await using tester = await openShops()
    await save(
      tester,
      { name: 'text', parameters: [parameter('v')], query: is('city', '${v}') },
      { name: 'any', parameters: [parameter('v', 'any')], query: is('city', '${v}') },
      { name: 'whole', parameters: [parameter('v', 'any')], query: '${v}' },
    )
    const value = { $or: [] }
    assert.equal(codeOf(await run(tester, { v: value }, { name: 'text' })), 'metadata:IncompatibleValue')
    assert.equal(codeOf(await run(tester, { v: value }, { name: 'any' })), 'metadata:IncompatibleValue')
    assert.deepEqual(ids(await run(tester, { v: value }, { name: 'whole' })), [])
    assert.equal(codeOf(await run(tester, { v: null }, { name: 'whole' })), 'query-api:InvalidQuery')
  })

  test('search: placeholders of no declared parameter stay as they are, and values nobody declared do nothing', async () => {
    await using tester = await openShops()
    await tester.store(tester.entity, [{ _id: 'raw', city: '${v}' }])
    await save(tester, { query: is('city', '${v}') })
    assert.deepEqual(ids(await run(tester, { v: 'Bern' })), ['raw'])
  })

  test('search: optional parameters have their default, others must be given', async () => {
    await using tester = await openShops()
    const query = is('size', '${v}')
    const integer = parameter('v', 'integer')
    await save(
      tester,
      { name: 'needed', parameters: [{ ...integer, defaultValue: 5 }], query },
      { name: 'optional', parameters: [{ ...integer, optional: true, defaultValue: '5' }], query },
      { name: 'empty', parameters: [{ ...integer, optional: true }], query },
      { name: 'odd', parameters: [parameter('v', 'colour')], query },
      { name: 'misfit', parameters: [{ ...integer, optional: true, defaultValue: 'five' }], query },
    )
    assert.deepEqual(ids(await run(tester, undefined, { name: 'optional' })), ['1'])
    assert.deepEqual(ids(await run(tester, { v: 7 }, { name: 'optional' })), ['2'])
    const codes: readonly [name: string, body: Json, code: Code][] = [
      ['needed', {}, 'crud:saved-search:missing'],
      ['empty', {}, 'crud:saved-search:noDefaultValue'],
      ['odd', { v: 'red' }, 'crud:saved-search:invalidType'],
      ['misfit', {}, 'metadata:IncompatibleValue'],
      ['optional', { v: 'seven' }, 'metadata:IncompatibleValue'],
      ['optional', { v: 7.5 }, 'metadata:IncompatibleValue'],
      ['optional', [], 'crud:InvalidRequest'],
    ]
    for (const [name, body, code] of codes)
      assert.equal(codeOf(await run(tester, body, { name })), code, `${name} ${JSON.stringify(body)}`)
    const messages: readonly [name: string, message: RegExp][] = [
      ['odd', /"v" with an unknown type; the types are boolean, integer, .*, any$/],
      ['misfit', /"v" is of type integer, and its default value in the saved search is not; send an integer/],
    ]
    for (const [name, message] of messages) {
      const { errors } = await run(tester, {}, { name })
      assert.match(errors![0]!.msg, message)
    }
  })

  test('search: a name nobody saved is 404, and so is one saved for another entity', async () => {
    await using tester = await openShops()
    await save(tester, { name: 'other', entity: 'elsewhere', query: ALL })
    assert.equal(codeOf(await run(tester)), 'rest-crud:SavedSearchError')
    assert.equal(codeOf(await run(tester, {}, { name: 'other' })), 'rest-crud:SavedSearchError')
    assert.equal(codeOf(await run(tester, {}, { version: '9.0.0' })), 'crud:UnknownEntity')
  })

  test('search: the search for the most exact version is run', async () => {
    await using tester = await openShops()
    for (const version of ['1.0.1', '1.1.0', '2.0.0']) {
      const body = metadataDocument(tester.entity, FIELDS, {
        schema: { version: { value: version, changelog: 'next' } },
      })
      await tester.service.metadata.create(ADMIN, { entity: tester.entity, version }, body)
    }
    await save(
      tester,
      { query: is('_id', '1'), versions: ['3', null] },
      { query: is('_id', '2'), versions: ['1'] },
      { query: is('_id', '3'), versions: ['1.0', '7.7'] },
      { query: is('_id', '4'), versions: ['1.0.1'] },
      { name: 'absent', query: is('_id', '1') },
      { name: 'empty', query: is('_id', '1'), versions: [] },
      { name: 'one', query: is('_id', '1'), versions: ['1'] },
    )
    for (const [version, id] of [
      ['2.0.0', '1'],
      ['1.1.0', '2'],
      ['1.0.0', '3'],
      ['1.0.1', '4'],
    ] as const) {
      const response = await run(tester, {}, { version })
      assert.deepEqual([response.entityVersion, ids(response)], [version, [id]])
    }
    assert.deepEqual(ids(await run(tester)), ['3'])
    for (const name of ['absent', 'empty'])
      assert.deepEqual(ids(await run(tester, {}, { name, version: '2.0.0' })), ['1'])
    assert.equal(
      codeOf(await run(tester, {}, { name: 'one', version: '2.0.0' })),
      'rest-crud:SavedSearchError',
    )
  })

  const OVERRIDDEN: readonly [overrides: string, found: readonly Json[]][] = [
    ['', ['2', '3']],
    ['from=0', ['1', '2', '3']],
    ['to=3', ['2', '3', '4']],
    ['from=2&to=3', ['3', '4']],
    ['maxResults=1', ['2']],
    ['maxResults=3', ['2', '3', '4']],
    ['from=0&maxResults=2', ['1', '2']],
    ['from=0&to=0&maxResults=3', ['1']],
    ['S=_id:d', ['3', '2']],
    ['s=_id:d&from=0&to=0', ['4']],
  ]
  test('search: the caller replaces projection, order and either end of the range', async () => {
    await using tester = await openShops()
    await save(tester, { query: ALL, projection: EVERYTHING, sort: { _id: '$asc' }, range: [1, 2] })
    for (const [overrides, found] of OVERRIDDEN) {
      assert.deepEqual(ids(await run(tester, {}, { overrides })), found, overrides)
      assert.deepEqual(ids(await simple(tester, overrides)), found, overrides)
    }
    const projected = await run(tester, {}, { overrides: 'P=city:1&to=1' })
    assert.deepEqual(documentsOf(projected), [{ city: 'Basel' }])
    assert.equal(codeOf(await run(tester, {}, { overrides: 'Q=city:Bern' })), 'crud:InvalidRequest')
    assert.equal(codeOf(await run(tester, {}, { overrides: 'from=x' })), 'crud:InvalidRequest')
  })

  test('search: by GET, every other query parameter is a value, and none may stand twice', async () => {
    await using tester = await openShops()
    await save(tester, {
      parameters: [parameter('Q'), parameter('least', 'integer')],
      query: {
        $and: [is('city', '${Q}'), { field: 'size', op: '>=', rvalue: '${least}' }],
      },
    })
    assert.deepEqual(ids(await simple(tester, 'Q=Bern&least=6&unknown=1')), ['3'])
    assert.equal(codeOf(await simple(tester, 'Q=Bern&least=6&least=7')), 'crud:InvalidRequest')
    assert.equal(codeOf(await simple(tester, 'Q=%00&least=6')), 'crud:InvalidRequest')
  })

  test('search: a change of the saved search counts at once', async () => {
    await using tester = await openShops()
    await save(tester, { query: is('city', 'Bern') })
    assert.deepEqual(ids(await run(tester)), ['1', '3'])
    const change = { query: is('name', 's'), update: { $set: { query: is('city', 'Basel') } } }
    await tester.service.data.update(KEEPER, { entity: 'savedSearch' }, change)
    assert.deepEqual(ids(await run(tester)), ['2'])
  })

  test('search: what is stored badly is told as what it is', async () => {
    await using tester = await openShops()
    const codes: readonly [part: JsonObject, code: Code][] = [
      [{ query: '{"field":' }, 'query-api:InvalidQuery'],
      [{ query: '{"field":"city","op":"=","op":"!=","rvalue":1}' }, 'query-api:InvalidQuery'],
      [{ query: '' }, 'query-api:InvalidQuery'],
      [{ query: 'null' }, 'query-api:InvalidQuery'],
      [{ query: 7 }, 'query-api:InvalidQuery'],
      [{ query: ALL, projection: '[' }, 'query-api:InvalidProjection'],
      [{ query: ALL, sort: 'city' }, 'query-api:InvalidSort'],
      [{ query: is('nowhere', 1) }, 'metadata:InvalidFieldReference'],
    ]
    for (const [i, [part, code]] of codes.entries()) {
      await save(tester, { name: `s${i}`, ...part })
      assert.equal(codeOf(await run(tester, {}, { name: `s${i}` })), code, JSON.stringify(part))
    }
  })

  test('access: a hidden field in a saved query is refused, in its projection left out', async () => {
    await using tester = await openShops()
    const boss = callerWith('boss')
    await save(
      tester,
      { name: 'query', query: is('secret', 'x') },
      { name: 'sort', query: ALL, sort: { secret: '$asc' } },
      { name: 'chosen', parameters: [parameter('f')], query: is('${f}', 'x') },
      { name: 'shown', query: is('_id', '1'), projection: [{ field: 'city' }, { field: 'secret' }] },
    )
    for (const [name, body] of [
      ['query', {}],
      ['sort', {}],
      ['chosen', { f: 'secret' }],
    ] as const) {
      assert.equal(codeOf(await run(tester, body, { name })), 'crud:NoAccess')
      assert.equal((await run(tester, body, { name, caller: boss })).status, 'COMPLETE')
    }
    assert.deepEqual(documentsOf(await run(tester, {}, { name: 'shown' })), [{ city: 'Bern' }])
    const shown = await run(tester, {}, { name: 'shown', overrides: 'P=secret:1', caller: boss })
    assert.deepEqual(documentsOf(shown), [{ secret: 'x' }])
    assert.equal(codeOf(await run(tester, {}, { name: 'shown', overrides: 'S=secret:a' })), 'crud:NoAccess')
  })

  test('access: the target must be open to the caller', async () => {
    await using tester = await openTenant()
    const access = { find: ['reader'], insert: ['anyone'], update: [], delete: [] }
    await tester.define(tester.entity, FIELDS, { schema: { access } })
    await save(tester, { query: ALL })
    assert.equal(codeOf(await run(tester)), 'crud:NoAccess')
    assert.deepEqual(ids(await run(tester, {}, { caller: callerWith('reader') })), [])
  })

  test('access: the saved searches must be open to the caller, for running and for listing', async () => {
    await using tester = await openShopsApart()
    await save(tester, { query: is('_id', '1') })
    await restrict(tester, { find: ['reader'], insert: ['admin'], update: ['admin'], delete: ['admin'] })
    const reader = callerWith('reader')
    const list = (caller: Caller): Promise<DataResponse> =>
      tester.service.data.searches(caller, { entity: tester.entity }, new URLSearchParams())
    assert.equal(codeOf(await run(tester)), 'crud:NoAccess')
    assert.equal(codeOf(await run(tester, {}, { name: 'nothing' })), 'crud:NoAccess')
    assert.equal(codeOf(await list(ADMIN)), 'crud:NoAccess')
    assert.deepEqual(ids(await run(tester, {}, { caller: reader })), ['1'])
    assert.equal((await list(reader)).matchCount, 1)
  })

  test('access: a saved query that the caller may not read does not run as a search for everything', async () => {
    await using tester = await openShopsApart()
    await save(tester, { query: is('_id', '1') })
    const open = { find: ['anyone'], insert: ['admin'], update: ['admin'], delete: ['admin'] }
    await restrict(tester, open, { find: ['reader'] })
    assert.equal(codeOf(await run(tester)), 'query-api:InvalidQuery')
    assert.deepEqual(ids(await run(tester, {}, { caller: callerWith('reader') })), ['1'])
  })

  /** A new default version of the entity of saved searches. */
  async function restrict(tester: Tenant, access: Json, queryAccess: Json = {}): Promise<void> {
    type Fields = Record<string, JsonObject>
    const made = tester.service.metadata.get(ADMIN, 'savedSearch', '1.0.0') as {
      entityInfo: JsonObject
      schema: JsonObject & { fields: Fields }
    }
    const { fields } = made.schema
    const body = {
      entityInfo: { ...made.entityInfo, defaultVersion: '2.0.0' },
      schema: {
        ...made.schema,
        access,
        version: { value: '2.0.0', changelog: 'ours' },
        fields: { ...fields, query: { ...fields['query'], access: queryAccess } },
      },
    }
    await tester.service.metadata.create(ADMIN, { entity: 'savedSearch', version: '2.0.0' }, body)
  }

  test('searches: those of the entity alone, by name, unless the caller wants another order', async () => {
    await using tester = await openShops()
    await save(
      tester,
      { name: 'b', query: ALL },
      { name: 'a', query: ALL },
      { name: 'c', entity: 'other', query: ALL },
    )
    const names = async (parameters: string): Promise<readonly Json[]> => {
      const target = { entity: tester.entity }
      const response = await tester.service.data.searches(ADMIN, target, new URLSearchParams(parameters))
      assert.equal(response.status, 'COMPLETE', JSON.stringify(response))
      return documentsOf(response).map((document) => document['name'] ?? Object.keys(document))
    }
    assert.deepEqual(await names(''), ['a', 'b'])
    assert.deepEqual(await names('S=name:d'), ['b', 'a'])
    assert.deepEqual(await names('P=entity:1'), [['entity'], ['entity']])
    assert.deepEqual(await names('from=1'), ['b'])
    const refused = await tester.service.data.searches(
      ADMIN,
      { entity: tester.entity },
      new URLSearchParams('Q=a:b'),
    )
    assert.equal(codeOf(refused), 'crud:InvalidRequest')
  })

  test('search: over HTTP, all forms', async () => {
    await using http = await startTestServer()
    await http.define('shop', FIELDS)
    await http.ask('PUT', '/data/insert/shop', { body: { data: SHOPS } })
    const query = is('city', '${city}')
    const saved = { name: 'by city', entity: 'shop', query, parameters: [parameter('city')] }
    const inserted = { body: { data: saved }, roles: ['admin'] }
    assert.equal((await http.ask('PUT', '/data/insert/savedSearch', inserted)).json.modifiedCount, 1)
    const found = async (method: string, path: string, body?: Json): Promise<readonly Json[]> => {
      const { status, text, json } = await http.ask(method, path, body === undefined ? {} : { body })
      assert.equal(status, 200, text)
      return (json.processed as JsonObject[]).map(({ _id }) => _id!)
    }
    assert.deepEqual(await found('GET', '/data/search/shop/by%20city?city=Bern'), ['1', '3'])
    assert.deepEqual(await found('GET', '/rest/data/search/shop/1.0.0/by%20city?city=Bern&S=_id:d'), [
      '3',
      '1',
    ])
    assert.deepEqual(await found('POST', '/data/search/shop/by%20city', { city: 'Basel' }), ['2'])
    assert.deepEqual(await found('POST', '/data/search/shop/1.0.0/by%20city?P=_id:1', { city: 'Basel' }), [
      '2',
    ])
    assert.equal((await found('GET', '/data/search/shop')).length, 1)
  })

  test('search: a value does not multiply without bound', async () => {
    await using http = await startTestServer()
    await http.define('shop', FIELDS)
    const inText = is('city', '${city}'.repeat(100_000))
    const inList = { field: 'city', op: '$in', values: Array.from({ length: 9_000 }, () => '${city}') }
    for (const [name, query] of Object.entries({ inText, inList })) {
      const saved = { name, entity: 'shop', query, parameters: [parameter('city')] }
      await http.ask('PUT', '/data/insert/savedSearch', { body: { data: saved }, roles: ['admin'] })
      const run = (city: string) => http.ask('POST', `/data/search/shop/${name}`, { body: { city } })
      const { status, json } = await run('x'.repeat(10_000))
      assert.deepEqual([status, json.errors[0].errorCode], [400, 'crud:LimitExceeded'])
      assert.equal((await run('x')).status, 200)
    }
  })

  test('search: over HTTP, problems are told in a response document', async () => {
    await using http = await startTestServer()
    await http.define('shop', FIELDS)
    const { status, json } = await http.ask('GET', '/data/search/shop/nothing')
    assert.equal(status, 404)
    const { entity, errors } = json
    const { errorCode, context } = errors[0]
    assert.deepEqual([entity, errorCode, context], ['shop', 'rest-crud:SavedSearchError', 'search(shop)'])
    assert.equal((await http.ask('POST', '/data/search/shop/nothing', { body: '[1' })).status, 400)
    assert.equal((await http.ask('PUT', '/data/search/shop')).status, 405)
  })
})
