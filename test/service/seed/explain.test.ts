/** The published interface: explain, in its full and its simple form. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEveryStore, storeKind } from '../../support/store-kind.ts'
import { EVERYTHING, addresses, country, dataError, seed, sound, store } from './fixture.ts'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('')

onEveryStore(() => {
  /** So many that no engine would rather read them all than look into an index. */
  const { ask } = seed((server) =>
    store(
      server,
      'country',
      LETTERS.flatMap((a) => LETTERS.map((b) => country(a + b, `Country ${a}${b}`, 9))),
    ),
  )

  const QUERY = { field: 'iso2Code', op: '=', rvalue: 'CH' }

  for (const path of addresses('explain', 'country', '1.0.0')) {
    test(`explain: ${path} answers matchCount, modifiedCount 0, processed with explain entries, and status`, async () => {
      const projection = [{ field: 'name', include: true }]
      const body = { objectType: 'country', version: '1.0.0', query: QUERY, projection }
      const { processed, ...rest } = sound(await ask('POST', path, { body })).json
      assert.deepEqual(rest, {
        entity: 'country',
        entityVersion: '1.0.0',
        status: 'COMPLETE',
        modifiedCount: 0,
        matchCount: 1,
      })
      assert.equal(processed.length, 1)
      assert.deepEqual(Object.keys(processed[0]).sort(), ['request', storeKind()].sort())
      const { query, projection: shown, plan } = processed[0][storeKind()]
      assert.deepEqual(Object.keys(query), ['sql', 'parameters'])
      assert.deepEqual(new Set(query.parameters), new Set(['CH']))
      assert.ok(!query.sql.includes('CH'))
      assert.deepEqual(shown, { name: 1 })
      assert.deepEqual(Object.keys(plan), ['queryPlanner', 'executionStats', 'serverInfo'])
    })
  }

  test('explain: request is the effective request, with projection and query in the forms of a request', async () => {
    const body = { query: QUERY, projection: EVERYTHING, sort: { name: '$desc' }, range: [0, 4] }
    const { request } = sound(await ask('POST', '/data/explain/country', { body })).json.processed[0]
    assert.deepEqual(request, {
      query: { ...QUERY, op: '$eq' },
      projection: [EVERYTHING],
      sort: [{ name: '$desc' }],
      from: 0,
      to: 4,
    })
    const again = sound(await ask('POST', '/data/explain/country', { body: request })).json.processed[0]
    assert.deepEqual(again.request, request)
  })

  test('explain: of an entity that holds nothing yet has the same parts', async () => {
    const answer = sound(
      await ask('POST', '/data/explain/staff', { body: { projection: EVERYTHING }, roles: ['hr'] }),
    )
    assert.equal(answer.json.matchCount, 0)
    assert.deepEqual(Object.keys(answer.json.processed[0][storeKind()].plan), [
      'queryPlanner',
      'executionStats',
      'serverInfo',
    ])
  })

  test('explain: nothing is changed', async () => {
    const before = (await ask('GET', '/data/find/country')).text
    await ask('POST', '/data/explain/country', { body: { projection: EVERYTHING } })
    assert.equal((await ask('GET', '/data/find/country')).text, before)
  })

  for (const path of addresses('explain', 'country', '1.0.0')) {
    test(`explain: GET ${path}?Q=<field>:<value> answers the same as POST`, async () => {
      const full = sound(await ask('POST', path, { body: { query: QUERY, projection: EVERYTHING } })).json
      const simple = sound(await ask('GET', `${path}?Q=iso2Code:CH`)).json
      for (const { processed } of [full, simple])
        processed[0][storeKind()].plan.executionStats.executionTimeMillis = 0
      assert.deepEqual(simple, full)
    })
  }

  test('explain: GET without access to the entity gives crud:NoAccess', async () => {
    for (const path of addresses('explain', 'staff', '1.0.0')) {
      dataError(await ask('GET', path), 403, 'crud:NoAccess')
      dataError(await ask('GET', `${path}?Q=salary:1`, { roles: ['guest'] }), 403, 'crud:NoAccess')
    }
  })

  test('explain: GET forms default to everything, recursively', async () => {
    const { request, [storeKind()]: explained } = sound(await ask('GET', '/data/explain/country')).json
      .processed[0]
    assert.deepEqual(request.projection, [EVERYTHING])
    assert.equal(explained.projection['places.*.name'], 1)
  })

  test('explain: names the index that serves the query', async () => {
    const { plan } = sound(await ask('GET', '/data/explain/country?Q=iso2Code:CH')).json.processed[0][
      storeKind()
    ]
    assert.deepEqual(plan.queryPlanner.winningPlan.indexes[0].fields, [
      { field: 'iso2Code', dir: '$asc', caseInsensitive: false },
    ])
  })
})
