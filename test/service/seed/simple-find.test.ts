/** The published interface: find by query parameters. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addresses, country, dataError, seed, sound, store } from './fixture.ts'
import { onEveryStore } from '../../support/store-kind.ts'

onEveryStore(() => {
  const { ask } = seed((server) =>
    store(server, 'country', [
      { _id: '1', ...country('CH', 'Switzerland', 9), neighbours: ['FR'] },
      { _id: '2', ...country('FR', 'a:b', 68) },
      { _id: '3', ...country('IT', 'a,b;c', 59) },
    ]),
  )

  for (const path of addresses('find', 'country', '1.0.0')) {
    test(`simple find: GET ${path} finds by Q`, async () => {
      const { json } = sound(await ask('GET', `${path}?Q=iso2Code:CH&P=_id:1`))
      assert.deepEqual(json.processed, [{ _id: '1' }])
      assert.equal(json.matchCount, 1)
      assert.equal(json.resultMetadata.length, 1)
    })
  }

  const CASES: readonly [rule: string, parameters: Readonly<Record<string, string>>, ids: string][] = [
    ['without Q finds everything', {}, '123'],
    ['a blank Q finds everything', { Q: ' ' }, '123'],
    ['several values mean any of them', { Q: 'iso2Code:CH,IT' }, '13'],
    ['; means and', { Q: 'iso2Code:CH,IT;population:59' }, '3'],
    ['is split at the first colon so values may contain colons', { Q: 'name:a:b' }, '2'],
    [', and ; may be escaped with a backslash', { Q: String.raw`name:a\,b\;c` }, '3'],
    ['lower case is accepted too', { q: 'iso2Code:CH', p: '_id:1', s: '_id:d' }, '1'],
    ['S sorts descending', { S: '_id:d' }, '321'],
    ['S sorts ascending', { S: 'population:a' }, '132'],
    ['from and to are a range', { from: '1', to: '2' }, '23'],
    ['from and maxResults are a range', { from: '1', maxResults: '1' }, '2'],
    ['maxResults alone is a range', { maxResults: '2' }, '12'],
    ['to alone is a range', { to: '0' }, '1'],
  ]
  for (const [rule, parameters, ids] of CASES) {
    test(`simple find: ${rule}`, async () => {
      const query = new URLSearchParams({ ...(!('p' in parameters) && { P: '_id:1' }), ...parameters })
      const { processed } = sound(await ask('GET', `/data/find/country?${query.toString()}`)).json
      assert.equal(processed.map(({ _id }: { _id: string }) => _id).join(''), ids)
    })
  }

  test('simple find: GET forms default to everything, recursively', async () => {
    const { processed } = sound(await ask('GET', '/data/find/country?Q=_id:1')).json
    assert.deepEqual(processed[0].neighbours, ['FR'])
    assert.equal(processed[0].objectType, 'country')
  })

  test('simple find: P includes by 1, leaves out by 0, and goes down by r', async () => {
    const { processed } = sound(await ask('GET', '/data/find/country?Q=_id:1&P=*:1r,name:0,*%23:0')).json
    assert.deepEqual(processed[0].neighbours, ['FR'])
    assert.equal('name' in processed[0], false)
  })

  for (const query of ['Q=name', 'Q=name:', 'Q=:x', 'n=1', 'from=x', 'from=1.5', 'Q=a:1&Q=b:1']) {
    test(`simple find: ${query} is crud:InvalidRequest`, async () => {
      dataError(await ask('GET', `/data/find/country?${query}`), 400, 'crud:InvalidRequest')
    })
  }

  for (const [query, code] of [
    ['P=name', 'query-api:InvalidProjection'],
    ['P=name:2', 'query-api:InvalidProjection'],
    ['S=name', 'query-api:InvalidSort'],
    ['Q=unknown:1', 'metadata:InvalidFieldReference'],
    ['Q=population:many', 'metadata:IncompatibleValue'],
  ] as const) {
    test(`simple find: ${query} is ${code}`, async () => {
      dataError(await ask('GET', `/data/find/country?${query}`), 400, code)
    })
  }
})
