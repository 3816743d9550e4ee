/** The published interface: find, and the rules of access that a find shows. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { onEveryStore, storeKind } from '../../support/store-kind.ts'
import { EVERYTHING, addresses, country, dataError, seed, sound, store } from './fixture.ts'

const BY_CODE = { field: 'iso2Code', op: '=', rvalue: 'CH' }

onEveryStore(() => {
  const { ask } = seed(async (server) => {
    await store(server, 'country', [
      { _id: '1', ...country('CH', 'Switzerland', 9), neighbours: ['FR', 'IT'] },
      { _id: '2', ...country('FR', 'France', 68), places: [{ name: 'Paris', height: 35 }] },
      { _id: '3', ...country('IT', 'Italy', 59) },
    ])
    await store(server, 'staff', [
      { _id: 'a', name: 'Ann', salary: 100 },
      { _id: 'b', name: 'Bob', salary: 50 },
    ])
  })

  for (const path of addresses('find', 'country', '1.0.0')) {
    test(`find: ${path} answers status, matchCount, resultMetadata and processed`, async () => {
      const body = { objectType: 'country', version: '1.0.0', query: BY_CODE, projection: EVERYTHING }
      const { resultMetadata, ...rest } = sound(await ask('POST', path, { body })).json
      assert.deepEqual(rest, {
        entity: 'country',
        entityVersion: '1.0.0',
        status: 'COMPLETE',
        modifiedCount: 0,
        matchCount: 1,
        processed: [
          {
            _id: '1',
            objectType: 'country',
            iso2Code: 'CH',
            name: 'Switzerland',
            population: 9,
            neighbours: ['FR', 'IT'],
            'neighbours#': 2,
            'places#': 0,
          },
        ],
      })
      assert.equal(resultMetadata.length, 1)
      assert.deepEqual(Object.keys(resultMetadata[0]), ['documentVersion'])
      assert.equal(typeof resultMetadata[0].documentVersion, 'string')
    })
  }

  const IDS = { field: '_id', include: true }

  const QUERIES: readonly [rule: string, body: JsonObject, ids: readonly string[], matchCount?: number][] = [
    ['a comparison is {field, op, rvalue} with the op =', { query: BY_CODE }, ['1']],
    ['the op $eq means the same', { query: { ...BY_CODE, op: '$eq' } }, ['1']],
    [
      'a conjunction is {"$and": [query, query, ...]}',
      { query: { $and: [BY_CODE, { field: 'name', op: '$eq', rvalue: 'Switzerland' }] } },
      ['1'],
    ],
    [
      'a conjunction needs all its parts',
      { query: { $and: [BY_CODE, { field: 'name', op: '=', rvalue: 'Italy' }] } },
      [],
    ],
    ['query absent means everything', {}, ['1', '2', '3']],
    ['query null means everything', { query: null }, ['1', '2', '3']],
    ['range is [from, to], inclusive and zero-based', { range: [1, 2] }, ['2', '3'], 3],
    ['from and to are a range', { from: 0, to: 0 }, ['1'], 3],
    ['from and maxResults are a range', { from: 1, maxResults: 1 }, ['2'], 3],
    ['to null is open', { from: 1, to: null }, ['2', '3'], 3],
    ['the second of range null is open', { range: [2, null] }, ['3'], 3],
    ['a negative from counts as 0', { range: [-5, 0] }, ['1'], 3],
    ['to below from gives an empty page', { range: [2, 1] }, [], 3],
    [
      'an explicit null is the same as an absent key',
      { range: null, from: null, sort: null },
      ['1', '2', '3'],
    ],
  ]
  for (const [rule, body, ids, matchCount = ids.length] of QUERIES) {
    test(`find: ${rule}`, async () => {
      const answer = sound(await ask('POST', '/data/find/country', { body: { projection: IDS, ...body } }))
      assert.deepEqual(
        answer.json.processed,
        ids.map((_id) => ({ _id })),
      )
      assert.equal(answer.json.matchCount, matchCount)
      assert.equal(answer.json.resultMetadata.length, ids.length)
    })
  }

  const PROJECTIONS: readonly [rule: string, projection: JsonObject | JsonObject[], expected: JsonObject][] =
    [
      ['is a single object', { field: 'name', include: true }, { name: 'France' }],
      [
        'or an array of them',
        [
          { field: 'name', include: true },
          { field: '_id', include: true },
        ],
        { name: 'France', _id: '2' },
      ],
      [
        'recursive is optional',
        { field: 'places', include: true, recursive: true },
        { places: [{ name: 'Paris', height: 35 }] },
      ],
      [
        'field may be *',
        [
          { field: '*', include: true, recursive: true },
          { field: 'places', include: false, recursive: true },
          { field: 'places#', include: false },
          { field: 'neighbours#', include: false },
        ],
        { _id: '2', objectType: 'country', ...country('FR', 'France', 68) },
      ],
    ]
  for (const [rule, projection, expected] of PROJECTIONS) {
    test(`find: projection ${rule}`, async () => {
      const body = { query: { field: '_id', op: '=', rvalue: '2' }, projection }
      assert.deepEqual(sound(await ask('POST', '/data/find/country', { body })).json.processed, [expected])
    })
  }

  for (const operation of ['find', 'explain']) {
    for (const projection of [undefined, null, []]) {
      test(`${operation}: a missing projection (${JSON.stringify(projection)}) gives store-crud:NullProjection`, async () => {
        const body = { query: BY_CODE, ...(projection !== undefined && { projection }) }
        for (const path of addresses(operation, 'country', '1.0.0'))
          dataError(await ask('POST', path, { body }), 400, 'store-crud:NullProjection')
      })
    }
    test(`${operation}: without access to the entity gives crud:NoAccess`, async () => {
      for (const roles of [[], ['stranger'], ['anyone']]) {
        for (const path of addresses(operation, 'staff', '1.0.0')) {
          const error = dataError(
            await ask('POST', path, { body: { projection: EVERYTHING }, roles }),
            403,
            'crud:NoAccess',
          )
          assert.match(error['context'] as string, new RegExp(`^${operation}\\(staff`))
        }
      }
    })
    test(`${operation}: a field that may not be read is left out and causes no failure`, async () => {
      const body = {
        projection: [
          { field: 'name', include: true },
          { field: 'salary', include: true },
        ],
      }
      const guest = sound(await ask('POST', `/data/${operation}/staff`, { body, roles: ['guest'] }))
      const boss = sound(await ask('POST', `/data/${operation}/staff`, { body, roles: ['boss'] }))
      assert.equal(guest.json.status, 'COMPLETE')
      if (operation === 'find') {
        assert.deepEqual(guest.json.processed, [{ name: 'Ann' }, { name: 'Bob' }])
        assert.deepEqual(boss.json.processed[0], { name: 'Ann', salary: 100 })
      } else {
        assert.deepEqual(guest.json.processed[0][storeKind()].projection, { name: 1 })
        assert.deepEqual(boss.json.processed[0][storeKind()].projection, { name: 1, salary: 1 })
      }
    })
    for (const [place, body] of [
      ['query', { query: { field: 'salary', op: '=', rvalue: 100 } }],
      ['nested query', { query: { $not: { $or: [{ field: 'salary', op: '>', rvalue: 1 }] } } }],
      ['rfield', { query: { field: 'floor', op: '=', rfield: 'salary' } }],
      ['sort', { sort: { salary: '$asc' } }],
    ] as const) {
      test(`${operation}: a field that may not be read, named in ${place}, is crud:NoAccess and nothing runs`, async () => {
        const ask1 = { body: { projection: EVERYTHING, ...body }, roles: ['guest'] }
        dataError(await ask('POST', `/data/${operation}/staff`, ask1), 403, 'crud:NoAccess')
      })
    }
  }

  test('find: access by one of several roles of the caller is enough', async () => {
    const ask1 = { body: { projection: IDS }, roles: ['x', 'guest', 'y'] }
    assert.equal(sound(await ask('POST', '/data/find/staff', ask1)).json.matchCount, 2)
  })

  const UNKNOWN: readonly [rule: string, path: string, code: string][] = [
    ['an unknown entity is crud:UnknownEntity', '/data/find/nothing', 'crud:UnknownEntity'],
    ['an unknown version is crud:UnknownEntity', '/data/find/country/9.9.9', 'crud:UnknownEntity'],
    ['no version asked and no default is crud:NoDefaultVersion', '/data/find/draft', 'crud:NoDefaultVersion'],
  ]
  for (const [rule, path, code] of UNKNOWN) {
    test(`find: ${rule}`, async () => {
      dataError(await ask('POST', path, { body: { projection: EVERYTHING } }), 404, code)
      dataError(await ask('GET', path), 404, code)
    })
  }

  test('find: a disabled version is crud:DisabledMetadataVersion', async () => {
    sound(await ask('PUT', '/metadata/country/1.1.0/disabled'))
    const body = { projection: EVERYTHING }
    dataError(await ask('POST', '/data/find/country/1.1.0', { body }), 404, 'crud:DisabledMetadataVersion')
    sound(await ask('PUT', '/metadata/country/1.1.0/active'))
    sound(await ask('POST', '/data/find/country/1.1.0', { body }))
  })

  const SYNTAX: readonly [rule: string, body: JsonObject, code: string, place: RegExp][] = [
    ['query', { query: { field: 'name', op: '~', rvalue: 1 } }, 'query-api:InvalidQuery', /\/query\/op/],
    ['projection', { projection: { include: true } }, 'query-api:InvalidProjection', /\/projection\/field/],
    ['sort', { sort: { name: 'up' } }, 'query-api:InvalidSort', /\/sort\/name/],
    ['envelope', { range: [1] }, 'crud:InvalidRequest', /\/range/],
    [
      'unknown field',
      { query: { field: 'nmae', op: '=', rvalue: 1 } },
      'metadata:InvalidFieldReference',
      /nmae.*\/query\/field/,
    ],
    [
      'array level missing',
      { query: { field: 'places.name', op: '=', rvalue: 'x' } },
      'metadata:InvalidArrayReference',
      /places.*\/query\/field/,
    ],
    [
      'value of the wrong type',
      { query: { field: 'population', op: '=', rvalue: 'many' } },
      'metadata:IncompatibleValue',
      /\/query\/rvalue|population/,
    ],
  ]
  for (const [rule, body, code, place] of SYNTAX) {
    test(`find: a problem of the ${rule} names the place by JSON pointer`, async () => {
      const answer = await ask('POST', '/data/find/country', { body: { projection: EVERYTHING, ...body } })
      assert.match(dataError(answer, 400, code)['msg'] as string, place)
    })
  }
})
