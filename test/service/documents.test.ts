/** Plain documents over HTTP: statuses, conditions, merge patches, dates and numbers. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { type Answer, type Ask, type TestServer, startTestServer } from '../support/server.ts'
import { ANYONE, metadataDocument } from '../support/service.ts'
import { onEveryStore } from '../support/store-kind.ts'

const FIELDS: JsonObject = {
  name: { type: 'string', constraints: { required: true, maxLength: 20 } },
  code: { type: 'string' },
  born: { type: 'date' },
  number: { type: 'integer' },
  salary: { type: 'bigdecimal', access: { find: ['hr'], insert: ['hr'], update: ['hr'] } },
  tags: { type: 'array', items: { type: 'string' } },
  trips: {
    type: 'array',
    items: { type: 'object', fields: { at: { type: 'date' }, to: { type: 'string' } } },
  },
  home: {
    type: 'object',
    fields: {
      city: { type: 'string' },
      since: { type: 'date' },
      room: { type: 'object', fields: { n: { type: 'integer' } } },
    },
  },
  more: { type: 'any' },
  boss: {
    type: 'reference',
    entity: 'person',
    query: { field: '_id', op: '=', rfield: '$parent.code' },
    projection: { field: '*', recursive: true },
  },
}

const INFO: JsonObject = { indexes: [{ name: 'code', unique: true, fields: [{ field: 'code' }] }] }
const BORN = '1990-05-06T07:08:09.010Z'

onEveryStore(() => {
  let server: TestServer
  let count = 0

  before(async () => {
    server = await startTestServer()
    await server.define('person', FIELDS, { info: INFO })
    await server.define('row', { ...FIELDS, _id: { type: 'integer', constraints: { identity: true } } })
    await server.define('land', {
      iso: { type: 'string', constraints: { identity: true } },
      name: { type: 'string' },
    })
    await server.define('fixed', FIELDS, { schema: { access: { ...ANYONE, update: ['x'] } } })
    await server.define('shut', FIELDS, { schema: { access: { ...ANYONE, update: ['x'], find: ['x'] } } })
  })
  after(() => server[Symbol.asyncDispose]())

  /** A document of its own for each test. */
  async function stored(
    document: JsonObject = {},
    ask: Ask = {},
  ): Promise<{ id: string; path: string; tag: string }> {
    const id = `p${++count}`
    const body = { _id: id, name: 'Ann', ...document }
    const answer = await server.ask('POST', '/documents/person', { ...ask, body })
    assert.equal(answer.status, 201, answer.text)
    return { id, path: `/documents/person/${id}`, tag: answer.headers.etag! }
  }

  function refused(answer: Answer, status: number, code: string, message = /./): void {
    assert.deepEqual([answer.status, answer.json.errorCode], [status, code], answer.text)
    assert.match(answer.json.msg, message)
  }

  test('documents: a list is read page by page', async () => {
    for (const i of [1, 2, 3]) await stored({ home: { city: 'Bern' }, number: i })
    const first = '/documents/person?filter=home.city%20%3D%20%22Bern%22&sort=-number&fields=number&size=2'
    const { items, next } = (await server.ask('GET', `${first}&count=true`)).json
    assert.deepEqual(items, [{ number: 3 }, { number: 2 }])
    const last = await server.ask('GET', `${first}&after=${next}`)
    assert.deepEqual(last.json, { items: [{ number: 1 }] })
    const other = await server.ask('GET', `${first.replace('-number', 'number')}&after=${next}`)
    refused(other, 400, 'crud:InvalidCursor')
  })

  test('documents: a write with an idempotency key happens once, and is answered with the same headers', async () => {
    const { path, tag } = await stored()
    const key = { 'Idempotency-Key': `k${path}` }
    const named = (name: string) => ({ ...key, 'Idempotency-Key': `${name}${path}` })
    const writes: readonly [method: string, path: string, ask: Ask][] = [
      ['POST', '/documents/person?version=1.0.0', { body: { name: 'Ann' }, headers: named('post') }],
      ['PATCH', path, { body: { name: 'Bo' }, headers: { ...named('patch'), 'If-Match': tag } }],
      ['PUT', `${path}new?upsert=true`, { body: { name: 'Cy' }, headers: named('put') }],
      ['DELETE', path, { headers: named('delete') }],
    ]
    for (const [method, at, ask] of writes) {
      const first = await server.ask(method, at, ask)
      assert.ok(first.status < 300, first.text)
      const again = await server.ask(method, at, ask)
      const { etag, location, 'idempotency-replayed': replayed } = again.headers
      assert.deepEqual([again.status, again.text], [first.status, first.text], method)
      assert.deepEqual([etag, location], [first.headers.etag, first.headers.location], method)
      assert.deepEqual([first.headers['idempotency-replayed'], replayed], [undefined, 'true'], method)
    }
    const other = { body: { name: 'Bo' }, headers: named('patch') }
    refused(await server.ask('PATCH', path, other), 422, 'crud:IdempotencyMismatch')
    const unknown = { body: { name: 'Bo' }, headers: key }
    for (const _ of [1, 2]) refused(await server.ask('PATCH', path, unknown), 404, 'crud:UnknownDocument')
  })

  test('documents: POST creates, Location and ETag name it', async () => {
    const body = { name: 'Ann', born: '1990-05-06T09:08:09.01+02:00', tags: ['a'] }
    const created = await server.ask('POST', '/documents/person', { body })
    assert.equal(created.status, 201, created.text)
    const { _id: id } = created.json
    assert.equal(created.headers.location, `/documents/person/${id}`)
    assert.deepEqual(created.json, {
      _id: id,
      objectType: 'person',
      name: 'Ann',
      born: BORN,
      tags: ['a'],
      'tags#': 1,
      'trips#': 0,
    })
    const read = await server.ask('GET', created.headers.location)
    assert.deepEqual([read.status, read.json, read.headers.etag], [200, created.json, created.headers.etag])
    const head = await server.ask('HEAD', created.headers.location)
    assert.deepEqual([head.status, head.text, head.headers.etag], [200, '', created.headers.etag])
  })

  test('documents: Location keeps version and odd ids', async () => {
    const body = { _id: 'a/b "ü" 1', name: 'x' }
    const created = await server.ask('POST', '/documents/person?version=1.0.0', { body })
    const location = created.headers.location!
    assert.equal(location, '/documents/person/a%2Fb%20%22%C3%BC%22%201?version=1.0.0')
    const read = await server.ask('GET', location)
    assert.equal(read.json._id, body._id)
    const headers = { 'If-None-Match': read.headers.etag! }
    assert.equal((await server.ask('GET', location, { headers })).status, 304)
    const changed = await server.ask('PATCH', location, {
      body: { name: 'y' },
      headers: { 'If-Match': read.headers.etag! },
    })
    assert.equal(changed.status, 200, changed.text)
  })

  test('documents: If-None-Match answers 304 while the document is the same', async () => {
    const { path, tag } = await stored()
    for (const header of [tag, '*', `W/${tag}`, `"other:1", ${tag}`]) {
      const answer = await server.ask('GET', path, { headers: { 'If-None-Match': header } })
      assert.deepEqual([answer.status, answer.text, answer.headers.etag], [304, '', tag], header)
      assert.equal(answer.headers['content-length'], undefined)
    }
    await server.ask('PATCH', path, { body: { name: 'Bob' } })
    const changed = await server.ask('GET', path, { headers: { 'If-None-Match': tag } })
    assert.deepEqual([changed.status, changed.json.name], [200, 'Bob'])
    refused(
      await server.ask('GET', path, { headers: { 'If-None-Match': 'x' } }),
      400,
      'crud:InvalidRequest',
      /must be \* or tags/,
    )
  })

  test('documents: fields selects, and references are followed only by name', async () => {
    const boss = await stored({ name: 'Boss', born: BORN })
    const { path } = await stored({ code: boss.id, home: { city: 'Bern', since: BORN } })
    const whole = await server.ask('GET', path)
    assert.equal(whole.json.boss, undefined)
    const some = await server.ask('GET', `${path}?fields=home.since,boss.*.born`)
    assert.deepEqual(some.json, { home: { since: BORN }, boss: [{ born: BORN }] })
    refused(await server.ask('GET', `${path}?fields=a,,b`), 400, 'crud:InvalidRequest')
  })

  test('documents: If-None-Match answers 200 where documents of references may have changed', async () => {
    const boss = await stored({ name: 'Boss' })
    const { path, tag } = await stored({ code: boss.id })
    const headers = { 'If-None-Match': tag }
    await server.ask('PATCH', boss.path, { body: { name: 'Chief' } })
    const joined = await server.ask('GET', `${path}?fields=boss.*.name`, { headers })
    assert.deepEqual(
      [joined.status, joined.json, joined.headers.etag],
      [200, { boss: [{ name: 'Chief' }] }, tag],
    )
    const counted = await server.ask('GET', `${path}?fields=boss%23`, { headers })
    assert.deepEqual([counted.status, counted.json], [200, { 'boss#': 1 }])
    assert.equal((await server.ask('GET', `${path}?fields=code`, { headers })).status, 304)
  })

  test('documents: joined documents have the form of the version in which they are read', async () => {
    const date = { type: 'date' }
    const chief = {
      type: 'reference',
      entity: 'worker',
      query: { field: '_id', op: '=', rfield: '$parent.chiefId' },
    }
    await server.define('worker', { chiefId: { type: 'string' }, chief })
    // Only the version that is asked knows the date; references of an entity to itself lead to the same version.
    const version = { value: '2.0.0', changelog: 'dates' }
    const newer = metadataDocument(
      'worker',
      { chiefId: { type: 'string' }, chief, born: date, pay: { type: 'bigdecimal' } },
      { schema: { version } },
    )
    assert.equal((await server.ask('PUT', '/metadata/worker/2.0.0', { body: newer })).status, 200)
    const chiefs = { _id: 'a', born: BORN, pay: 1.5 }
    for (const body of [chiefs, { _id: 'b', chiefId: 'a' }]) {
      const { status } = await server.ask('POST', '/documents/worker?version=2.0.0', { body })
      assert.equal(status, 201)
    }
    const one = await server.ask('GET', '/documents/worker/b?version=2.0.0&fields=chief&numbers=text')
    assert.deepEqual(one.json, { chief: [{ objectType: 'worker', ...chiefs, pay: '1.5' }] })
    const filter = encodeURIComponent(`chief.*.born = "${BORN}"`)
    const list = await server.ask('GET', `/documents/worker?version=2.0.0&filter=${filter}`)
    assert.deepEqual(list.json.items[0].chief, [{ objectType: 'worker', ...chiefs }])

    const { defaultVersion: _, ...info } = newer['entityInfo'] as JsonObject
    const put = await server.ask('PUT', '/metadata/worker', { body: info })
    assert.equal(put.status, 200, put.text)
    const again = await server.ask('GET', '/documents/worker/b?version=2.0.0&fields=chief&numbers=text')
    assert.deepEqual(again.json, one.json, 'no default version is needed')
  })

  test('documents: numbers=text sends large integers and decimals as texts', async () => {
    const exact = {
      number: JSON.rawJSON('9007199254740993'),
      salary: JSON.rawJSON('7.50'),
    } as unknown as JsonObject
    const { path } = await stored(exact, { roles: ['hr'] })
    const roles = ['hr']
    const asked = await server.ask('GET', `${path}?numbers=text&fields=number,salary`, { roles })
    assert.equal(asked.text, '{"number":"9007199254740993","salary":"7.50"}')
    const preferred = await server.ask('GET', `${path}?fields=number`, {
      headers: { Prefer: 'return=minimal, numbers=text' },
    })
    assert.equal(preferred.text, '{"number":"9007199254740993"}')
    assert.equal(preferred.headers['preference-applied'], 'numbers=text')
    const plain = await server.ask('GET', `${path}?fields=number`)
    assert.equal(plain.text, '{"number":9007199254740993}')
    const small = await stored({ number: 5 })
    assert.equal((await server.ask('GET', `${small.path}?fields=number&numbers=text`)).text, '{"number":5}')
    const back = await server.ask('PATCH', `${path}?numbers=text`, { body: { number: '9007199254740995' } })
    assert.equal(back.json.number, '9007199254740995')
    refused(await server.ask('GET', `${path}?numbers=all`), 400, 'crud:InvalidRequest')
  })

  test('documents: numbers=text accepts as text every number that is accepted as a number', async () => {
    const types = ['integer', 'double', 'biginteger', 'bigdecimal']
    const fields = Object.fromEntries(types.map((type) => [type, { type }]))
    const row = { row: { type: 'object', fields } }
    const rows = { rows: { type: 'array', items: { type: 'object', fields } } }
    const integers = { integers: { type: 'array', items: { type: 'integer' } } }
    const id = { type: 'integer', constraints: { identity: true } }
    await server.define('amount', { _id: id, ...fields, ...row, ...rows, ...integers, more: { type: 'any' } })
    const plain = '/documents/amount'
    const texts = [
      '5',
      '5.0',
      '1e3',
      '-0.0',
      '1.5',
      '1.50',
      '9007199254740993.0',
      '1e400',
      '9e18',
      '9e19',
      'x',
      '05',
      '',
    ]
    for (const [i, text] of texts.entries())
      for (const type of types) {
        const raw = /^(?:x|05|)$/.test(text) ? text : (JSON.rawJSON(text) as unknown as number)
        const document = (value: string | number): JsonObject => ({ [type]: value, row: { [type]: value } })
        const path = `${plain}/${100 + i}`
        const put = (at: string, body: JsonObject) => server.ask('PUT', `${at}upsert=true`, { body })
        const asNumber = await put(`${path}?`, document(raw))
        const asText = await put(`${path}?numbers=text&`, document(text))
        const shown = await server.ask('GET', path)
        const result = (answer: Answer) =>
          answer.status < 300 ? 'stored' : (answer.json.errors?.[0].errorCode ?? answer.json.errorCode)
        assert.equal(result(asText), result(asNumber), `${type} ${text}: ${asText.text}`)
        if (asNumber.status < 300) assert.equal(shown.text, asNumber.text, `${type} ${text}`)
      }
    const body = { _id: '7.0', integers: ['5.0', 6], rows: [{ integer: '1e3' }], more: { integer: '1e3' } }
    const prefer = { headers: { Prefer: 'numbers=text' }, body }
    const created = await server.ask('POST', plain, prefer)
    assert.equal(created.status, 201, created.text)
    const { _id, integers: elements, rows: objects, more } = created.json
    assert.deepEqual([_id, elements, objects, more], [7, [5, 6], [{ integer: 1000 }], { integer: '1e3' }])
    const patch = { row: { integer: '2e0' }, integers: ['3.0'] }
    const patched = await server.ask('PATCH', `${plain}/7?numbers=text`, { body: patch })
    assert.deepEqual([patched.json.row, patched.json.integers], [{ integer: 2 }, [3]], patched.text)
    refused(await server.ask('PATCH', `${plain}/7`, { body: patch }), 400, 'metadata:IncompatibleValue')
  })

  test('documents: numbers=text sends decimals of another version as texts in integer fields', async () => {
    await server.define('sum', { n: { type: 'bigdecimal' } })
    const body = { _id: 'a', n: JSON.rawJSON('1234567890.12345678') as unknown as number }
    assert.equal((await server.ask('POST', '/documents/sum', { body })).status, 201)
    const version = { value: '2.0.0', changelog: 'integers' }
    const newer = metadataDocument('sum', { n: { type: 'integer' } }, { schema: { version } })
    const defined = await server.ask('PUT', '/metadata/sum/2.0.0', { body: newer })
    assert.equal(defined.status, 200, defined.text)
    const { text } = await server.ask('GET', '/documents/sum/a?version=2.0.0&fields=n&numbers=text')
    assert.equal(text, '{"n":"1234567890.12345678"}')
  })

  test('documents: the list filters, sorts, selects, limits and counts', async () => {
    for (const [name, number] of [
      ['x1', 1],
      ['x2', 2],
      ['x3', 2],
    ] as const)
      await stored({ name, number, born: BORN, code: `list-${name}` })
    const filter = encodeURIComponent('code ~ /^list-/')
    const base = `/documents/person?filter=${filter}&fields=name,born`
    const all = await server.ask('GET', `${base}&sort=-number,-name&count=true`)
    assert.deepEqual(all.json, {
      items: ['x3', 'x2', 'x1'].map((name) => ({ name, born: BORN })),
      total: 3,
    })
    const two = await server.ask('GET', `${base}&sort=name&size=2`)
    assert.deepEqual(
      two.json.items.map(({ name }: { name: string }) => name),
      ['x1', 'x2'],
    )
    assert.equal(two.json.total, undefined)
    const counted = await server.ask('GET', `${base}&size=1&count=true`)
    assert.deepEqual([counted.json.items.length, counted.json.total], [1, 3])
  })

  for (const [search, status, code] of [
    ['filter=name', 400, 'query-api:InvalidQuery'],
    ['filter=salary%20%3E%201', 403, 'crud:NoAccess'],
    ['sort=salary', 403, 'crud:NoAccess'],
    ['sort=tags', 400, 'query-api:InvalidSort'],
    ['sort=,', 400, 'crud:InvalidRequest'],
    ['size=0', 400, 'crud:InvalidRequest'],
    ['size=10001', 400, 'crud:InvalidRequest'],
    ['count=yes', 400, 'crud:InvalidRequest'],
    ['limit=5', 400, 'crud:InvalidRequest'],
    ['version=9.0.0', 404, 'crud:UnknownEntity'],
  ] as const) {
    test(`documents: refused in a list is ${search}`, async () => {
      refused(await server.ask('GET', `/documents/person?${search}`), status, code)
    })
  }

  test('documents: PUT replaces, and 404 tells of an unknown id', async () => {
    const { id, path, tag } = await stored({ tags: ['a'], code: `put${count}` })
    const replaced = await server.ask('PUT', path, { body: { name: 'Bob' } })
    assert.equal(replaced.status, 200, replaced.text)
    assert.deepEqual(replaced.json, {
      _id: id,
      objectType: 'person',
      name: 'Bob',
      'tags#': 0,
      'trips#': 0,
    })
    assert.notEqual(replaced.headers.etag, tag)
    const same = await server.ask('PUT', path, { body: replaced.json })
    assert.deepEqual([same.status, same.headers.etag], [200, replaced.headers.etag])
    refused(
      await server.ask('PUT', '/documents/person/nobody', { body: { name: 'x' } }),
      404,
      'crud:UnknownDocument',
      /upsert=true/,
    )
    refused(await server.ask('PUT', path, { body: { _id: 'other', name: 'x' } }), 400, 'crud:InvalidRequest')
  })

  test('documents: PUT with upsert creates, and If-None-Match: * only creates', async () => {
    const path = `/documents/person/new${++count}`
    const body = { name: 'New' }
    assert.equal((await server.ask('PUT', `${path}?upsert=true`, { body })).status, 201)
    assert.equal((await server.ask('PUT', `${path}?upsert=true`, { body })).status, 200)
    const headers = { 'If-None-Match': '*' }
    const again = await server.ask('PUT', path, { body, headers })
    refused(again, 412, 'crud:PreconditionFailed', /exists, and "If-None-Match: \*" only creates/)
    const fresh = await server.ask('PUT', `${path}b`, { body, headers })
    assert.deepEqual([fresh.status, fresh.headers.location], [201, `${path}b`])
    refused(
      await server.ask('PUT', path, { body, headers: { 'If-None-Match': '"a:1"' } }),
      400,
      'crud:InvalidRequest',
    )
  })

  test('documents: a condition that a method cannot meet is refused, and nothing is written', async () => {
    const id = `conditional${++count}`
    const path = `/documents/person/${id}`
    const body = { name: 'New' }
    await server.ask('PUT', `${path}?upsert=true`, { body })
    const stale = { 'If-Match': '"a:1"' }
    refused(await server.ask('GET', path, { headers: stale }), 412, 'crud:PreconditionFailed')
    assert.equal((await server.ask('GET', path, { headers: { 'If-Match': '*' } })).status, 200)
    for (const header of ['"a:1"', '*']) {
      const answer = await server.ask('POST', '/documents/person', { body, headers: { 'If-Match': header } })
      refused(answer, 412, 'crud:PreconditionFailed', /has no version yet; leave "If-Match" out/)
      const upsert = `${path}-none?upsert=true`
      const created = await server.ask('PUT', upsert, { body, headers: { 'If-Match': header } })
      refused(created, 412, 'crud:PreconditionFailed', /has no version yet; leave "If-Match" out/)
      const headers = { 'If-None-Match': header }
      refused(await server.ask('PATCH', path, { body, headers }), 400, 'crud:InvalidRequest')
      refused(await server.ask('DELETE', path, { headers }), 400, 'crud:InvalidRequest')
    }
    const posted = { body: { _id: id, ...body }, headers: { 'If-None-Match': '*' } }
    refused(await server.ask('POST', '/documents/person', posted), 409, 'store-crud:Duplicate')
    assert.equal((await server.ask('GET', path)).status, 200)
  })

  test('documents: the context of an error names the operation before the field', async () => {
    const contextOf = async (method: string, path: string, body?: JsonObject): Promise<string> =>
      (await server.ask(method, path, body ? { body } : {})).json.context
    assert.equal(await contextOf('GET', '/documents/person?sort=nowhere'), 'listDocuments(person)/nowhere')
    const path = `/documents/person/context${++count}`
    await server.ask('PUT', `${path}?upsert=true`, { body: { name: 'New' } })
    assert.equal(await contextOf('PATCH', path, { nowhere: 1 }), 'patchDocument(person)/nowhere')
    const named = '/documents/person?version=1.0.0&filter=nowhere%3D1'
    assert.equal(await contextOf('GET', named), 'listDocuments(person:1.0.0)/nowhere')
  })

  test('documents: an entity with another identity is addressed by _id', async () => {
    const made = async (body: JsonObject): Promise<string> =>
      (await server.ask('POST', '/documents/land', { body })).json._id
    const [swiss, french] = [await made({ iso: 'CH' }), await made({ iso: 'FR' })]
    const moved = await server.ask('PUT', `/documents/land/${swiss}`, { body: { iso: 'LI', name: 'x' } })
    assert.deepEqual([moved.status, moved.json.iso, moved.json._id], [200, 'LI', swiss])
    const other = await server.ask('GET', `/documents/land/${french}`)
    assert.equal(other.json.iso, 'FR')
  })

  test('documents: If-Match with a stale version is 412, for PUT, PATCH and DELETE', async () => {
    const { path, tag } = await stored()
    const other = await stored()
    await server.ask('PATCH', path, { body: { name: 'Bob' } })
    const { headers: now } = await server.ask('GET', path)
    for (const [method, body] of [
      ['PUT', { name: 'x' }],
      ['PATCH', { name: 'x' }],
      ['PATCH', { more: { a: 1 } }],
      ['PATCH', {}],
      ['DELETE', undefined],
    ] as const) {
      for (const header of [tag, other.tag, '"nonsense"', `W/${now.etag!}`]) {
        const ask = { headers: { 'If-Match': header }, ...(body && { body }) }
        refused(await server.ask(method, path, ask), 412, 'crud:PreconditionFailed')
        const gone = `/documents/person/nobody`
        refused(await server.ask(method, gone, ask), 404, 'crud:UnknownDocument')
      }
    }
    assert.equal((await server.ask('GET', path)).headers.etag, now.etag)
    for (const header of ['*', now.etag!]) {
      const kept = await server.ask('PUT', path, { body: { name: 'Bob' }, headers: { 'If-Match': header } })
      assert.equal(kept.status, 200, kept.text)
    }
    const upsert = `/documents/person/nobody?upsert=true`
    refused(
      await server.ask('PUT', upsert, { body: { name: 'x' }, headers: { 'If-Match': '*' } }),
      412,
      'crud:PreconditionFailed',
    )
    const deleted = await server.ask('DELETE', path, { headers: { 'If-Match': now.etag! } })
    assert.deepEqual([deleted.status, deleted.text], [204, ''])
    refused(await server.ask('GET', path), 404, 'crud:UnknownDocument')
    refused(await server.ask('DELETE', path), 404, 'crud:UnknownDocument')
  })

  /** Document, patch, and the members of the document afterwards; null for one that is gone. */
  const PATCHES: readonly (readonly [
    rule: string,
    before: JsonObject,
    patch: JsonObject,
    after: JsonObject,
  ])[] = [
    [
      'sets and removes members',
      { code: null, number: 5 },
      { number: null, born: BORN },
      { number: null, born: BORN },
    ],
    ['replaces arrays', { tags: ['a', 'b'] }, { tags: ['c'] }, { tags: ['c'], 'tags#': 1 }],
    [
      'goes into objects',
      { home: { city: 'Bern', since: BORN } },
      { home: { city: 'Thun' } },
      { home: { city: 'Thun', since: BORN } },
    ],
    [
      'removes inside objects',
      { home: { city: 'Bern', since: BORN } },
      { home: { since: null } },
      { home: { city: 'Bern' } },
    ],
    ['creates objects on the way', {}, { home: { room: { n: 1 } } }, { home: { room: { n: 1 } } }],
    ['creates an empty object', {}, { home: {} }, { home: {} }],
    [
      'leaves an object for an empty one',
      { home: { city: 'Bern' } },
      { home: {} },
      { home: { city: 'Bern' } },
    ],
    ['removes objects', { home: { city: 'Bern' } }, { home: null }, { home: null }],
    [
      'merges values without schema',
      { more: { a: 1, b: { c: 2, d: 3 } } },
      { more: { a: null, b: { c: 5 }, e: [null, {}] } },
      { more: { b: { c: 5, d: 3 }, e: [null, {}] } },
    ],
    [
      'replaces a value without schema that is no object',
      { more: [1] },
      { more: { a: { b: null } } },
      { more: { a: {} } },
    ],
    [
      'creates an object to remove members of it',
      {},
      { home: { city: null, room: { n: null } } },
      { home: { room: {} } },
    ],
    [
      'leaves an object that it only removes members of',
      { home: { city: 'Bern', room: { n: 1 } } },
      { home: { room: { n: null } } },
      { home: { city: 'Bern', room: {} } },
    ],
    [
      'takes texts and objects as they are',
      { name: 'Ann', number: 1 },
      { code: '$null', more: { $valueof: 'number' } },
      { code: '$null', more: { $valueof: 'number' } },
    ],
    [
      'takes what the service computes',
      { tags: ['a'] },
      { objectType: 'person', 'tags#': 7, boss: [] },
      { 'tags#': 1 },
    ],
    ['changes nothing by nothing', { number: 1 }, {}, { number: 1 }],
  ]
  for (const [rule, before, patch, after] of PATCHES) {
    test(`documents: a merge patch ${rule}`, async () => {
      const { path } = await stored(before)
      const headers = { 'Content-Type': 'application/merge-patch+json' }
      const answer = await server.ask('PATCH', path, { body: JSON.stringify(patch), headers })
      assert.equal(answer.status, 200, answer.text)
      for (const [name, value] of Object.entries(after))
        assert.deepEqual(answer.json[name] ?? null, value, answer.text)
      assert.deepEqual((await server.ask('GET', path)).json, answer.json)
    })
  }

  test('documents: patches that depend on the document lose nothing', async () => {
    const { path } = await stored({ more: {} })
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    const answers = await Promise.all(
      names.map((name) => server.ask('PATCH', path, { body: { more: { [name]: 1 } } })),
    )
    const done = names.filter((_, i) => answers[i]!.status === 200)
    for (const { status } of answers) assert.ok(status === 200 || status === 409)
    assert.deepEqual(Object.keys((await server.ask('GET', path)).json.more).sort(), done)
  })

  test('documents: a merge patch removes members of an object that the caller may not read', async () => {
    const text = { type: 'string' }
    const fields = { a: text, b: { ...text, constraints: { required: true } } }
    const mine = { field: '_id', op: '=', rvalue: '$caller.principal' }
    await server.define('screened', {
      home: { type: 'object', fields, access: { find: ['hr'] } },
      ruled: { type: 'object', fields, access: { find: [{ role: 'anyone', where: mine }] } },
    })
    const document = { _id: 'me', home: { a: 'x', b: 'y' }, ruled: { a: 'x', b: 'y' } }
    assert.equal((await server.ask('POST', '/documents/screened', { body: document })).status, 201)
    const body = { home: { a: null }, ruled: { a: null } }
    const patched = await server.ask('PATCH', '/documents/screened/me', { body })
    assert.equal(patched.status, 200, patched.text)
    const known = { roles: ['hr'], headers: { 'Smalt-Principal': 'me' } }
    const { json } = await server.ask('GET', '/documents/screened/me', known)
    assert.deepEqual([json.home, json.ruled], [{ b: 'y' }, { b: 'y' }])
  })

  test('documents: a merge patch replaces no value that the caller may not read', async () => {
    const hidden = { type: 'any', access: { find: ['hr'] } }
    const mine = { field: '_id', op: '=', rvalue: '$caller.principal' }
    const ruled = { type: 'any', access: { find: [{ role: 'anyone', where: mine }] } }
    await server.define('sealed', {
      hidden,
      inner: { type: 'object', fields: { hidden } },
      ruled,
      n: { type: 'integer' },
    })
    const document = { _id: 'me', hidden: { a: 1 }, inner: { hidden: { a: 1 } }, ruled: { a: 1 }, n: 1 }
    assert.equal((await server.ask('POST', '/documents/sealed', { body: document })).status, 201)
    const path = '/documents/sealed/me'
    for (const body of [{ hidden: { b: 2 } }, { n: 2, inner: { hidden: { b: 2 } } }, { ruled: { b: 2 } }])
      refused(await server.ask('PATCH', path, { body }), 403, 'crud:NoAccess')
    const known = { roles: ['hr'], headers: { 'Smalt-Principal': 'me' } }
    const { objectType: _, ...unchanged } = (await server.ask('GET', path, known)).json
    assert.deepEqual(unchanged, document)
    const body = { hidden: { b: 2 }, ruled: { b: 2 } }
    const merged = await server.ask('PATCH', path, { body, ...known })
    assert.deepEqual(merged.json.hidden, { a: 1, b: 2 }, merged.text)
    assert.deepEqual(merged.json.ruled, { a: 1, b: 2 })
    const replaced = await server.ask('PATCH', path, { body: { hidden: null } })
    assert.equal(replaced.status, 200, replaced.text)
  })

  /** Method, path, body, status and code. */
  const FATES: readonly (readonly [
    rule: string,
    method: string,
    path: string,
    body: Json,
    status: number,
    code: string,
  ])[] = [
    ['an unknown document', 'PATCH', 'person/nobody', { name: 'x' }, 404, 'crud:UnknownDocument'],
    ['an unknown entity', 'GET', 'nothing/1', null, 404, 'crud:UnknownEntity'],
    ['an id of another type', 'GET', 'row/abc', null, 404, 'crud:UnknownDocument'],
    ['a missing member', 'POST', 'person', {}, 422, 'crud:Required'],
    ['a text that is too long', 'PATCH', 'person/fate', { name: 'x'.repeat(21) }, 422, 'crud:TooLong'],
    ['removal of a required member', 'PATCH', 'person/fate', { name: null }, 422, 'crud:Required'],
    ['a unique value twice', 'PATCH', 'person/fate', { code: 'taken' }, 409, 'store-crud:Duplicate'],
    ['an id twice', 'POST', 'person', { _id: 'fate', name: 'x' }, 409, 'store-crud:Duplicate'],
    [
      'a value of another type',
      'POST',
      'person',
      { name: 'x', number: 'y' },
      400,
      'metadata:IncompatibleValue',
    ],
    [
      'an unknown field',
      'PATCH',
      'person/fate',
      { home: { town: 1 } },
      400,
      'metadata:InvalidFieldReference',
    ],
    [
      'a field that may not be written',
      'PATCH',
      'person/fate',
      { salary: 1 },
      403,
      'crud:update:NoFieldAccess',
    ],
    ['removal of a hidden field', 'PATCH', 'person/fate', { salary: null }, 403, 'crud:update:NoFieldAccess'],
    [
      'a hidden field of a new document',
      'POST',
      'person',
      { name: 'x', salary: 1 },
      403,
      'crud:insert:NoFieldAccess',
    ],
    ['an entity that may not be read', 'GET', 'shut/1', null, 403, 'crud:NoAccess'],
    ['an entity that may not be changed', 'PUT', 'shut/1', { name: 'x' }, 403, 'crud:NoAccess'],
    ['an empty patch of what may only be read', 'PATCH', 'fixed/1', {}, 403, 'crud:NoAccess'],
    ['an array', 'POST', 'person', [{ name: 'x' }], 400, 'crud:InvalidRequest'],
    ['an array as a patch', 'PATCH', 'person/fate', [1], 400, 'crud:InvalidRequest'],
    ['another id in a patch', 'PATCH', 'person/fate', { _id: 'x' }, 400, 'crud:InvalidRequest'],
    ['another objectType in a patch', 'PATCH', 'person/fate', { objectType: 'x' }, 400, 'crud:InvalidEntity'],
    [
      'an object for a number',
      'PATCH',
      'person/fate',
      { number: { $valueof: 'number' } },
      400,
      'metadata:IncompatibleValue',
    ],
    ['a reference in a patch', 'PATCH', 'person/fate', { boss: [{}] }, 400, 'metadata:IncompatibleValue'],
  ]
  for (const [rule, method, path, body, status, code] of FATES) {
    test(`documents: refused is ${rule}`, async () => {
      await server.ask('PUT', '/documents/person/fate?upsert=true', { body: { name: 'Fate' } })
      await server.ask('PUT', '/documents/person/taken?upsert=true', { body: { name: 'x', code: 'taken' } })
      await server.ask('POST', '/documents/fixed', { body: { _id: '1', name: 'x' } })
      const answer = await server.ask(method, `/documents/${path}`, method === 'GET' ? {} : { body })
      refused(answer, status, code)
      assert.ok(answer.json.context !== '')
    })
  }

  test('documents: several faults come as a list, with the status of the first', async () => {
    const body = { number: 'x', born: 'y' }
    const answer = await server.ask('POST', '/documents/person', { body })
    assert.equal(answer.status, 400)
    assert.deepEqual(
      answer.json.errors.map(({ errorCode }: { errorCode: string }) => errorCode),
      ['metadata:IncompatibleValue', 'metadata:IncompatibleValue', 'crud:Required'],
    )
  })

  test('documents: a row rule that admits to reading only is 403', async () => {
    const own = [{ role: 'anyone', where: { field: 'name', op: '=', rvalue: 'own' } }]
    await server.define('ruled', FIELDS, { schema: { access: { ...ANYONE, update: own, delete: own } } })
    const created = await server.ask('POST', '/documents/ruled', { body: { _id: '1', name: 'x', more: {} } })
    const path = created.headers.location!
    refused(await server.ask('PATCH', path, { body: { number: 1 } }), 403, 'crud:NoAccess')
    refused(await server.ask('PATCH', path, { body: { more: { a: 1 } } }), 403, 'crud:NoAccess')
    refused(await server.ask('DELETE', path), 403, 'crud:NoAccess')
    const headers = { 'If-Match': '"1:1"' }
    refused(await server.ask('DELETE', path, { headers }), 412, 'crud:PreconditionFailed')
    const put = await server.ask('PUT', path, { body: { name: 'y' } })
    assert.equal(put.status, 403, put.text)
  })

  test('documents: ids are of the type of _id', async () => {
    const created = await server.ask('POST', '/documents/row', { body: { _id: 7, name: 'x' } })
    assert.equal(created.headers.location, '/documents/row/7')
    assert.equal((await server.ask('GET', '/documents/row/7')).json._id, 7)
    assert.equal((await server.ask('PUT', '/documents/row/7', { body: { _id: '7', name: 'y' } })).status, 200)
    assert.equal((await server.ask('DELETE', '/rest/documents/row/7/')).status, 204)
  })

  test('documents: a document cannot be created with an id that is not of the type of _id', async () => {
    const body = { name: 'x' }
    refused(await server.ask('PUT', '/documents/row/x', { body }), 404, 'crud:UnknownDocument')
    const message = /"_id" is of type integer; the path must end in an integer of 64 bits, such as 42/
    const upsert = await server.ask('PUT', '/documents/row/x?upsert=true', { body })
    refused(upsert, 400, 'metadata:IncompatibleValue', message)
    assert.equal(upsert.json.context, 'replaceDocument(row)/_id')
    const fresh = await server.ask('PUT', '/documents/row/x', { body, headers: { 'If-None-Match': '*' } })
    refused(fresh, 400, 'metadata:IncompatibleValue', message)
  })

  test('documents: a hidden _id has no Location, and other methods are refused', async () => {
    const fields = {
      ...FIELDS,
      _id: { type: 'string', constraints: { identity: true }, access: { find: ['x'] } },
    }
    await server.define('veiled', fields)
    const created = await server.ask('POST', '/documents/veiled', { body: { _id: '1', name: 'x' } })
    assert.deepEqual(
      [created.status, created.headers.location, created.json._id],
      [201, undefined, undefined],
    )
    refused(await server.ask('GET', '/documents/veiled/1'), 403, 'crud:NoAccess')
    const wrong = await server.ask('POST', '/documents/person/1', { body: {} })
    assert.deepEqual([wrong.status, wrong.headers.allow], [405, 'GET, HEAD, PUT, PATCH, DELETE'])
  })

  test('documents: an _id in the body that cannot be one is named, with a right one', async () => {
    for (const [_id, form] of [
      [{ a: 1 }, 'an object'],
      [[7], 'an array'],
      [7.5, 'this number'],
    ] as const) {
      const { status, json } = await server.ask('POST', '/documents/row', { body: { _id, name: 'Ann' } })
      assert.equal(status, 400)
      const { errorCode, context, msg } = json as Record<'errorCode' | 'context' | 'msg', string>
      assert.equal(errorCode, 'metadata:IncompatibleValue')
      assert.match(context, /\/_id$/)
      assert.equal(
        msg,
        `${form} cannot identify a document: "_id" is of type integer; send an integer of 64 bits, such as 42`,
      )
      // whoever has no access learns nothing about the type
      const named = await server.ask('PUT', '/documents/row/7?upsert=true', { body: { _id, name: 'Ann' } })
      refused(named, 400, 'crud:InvalidRequest')
      assert.match(named.json['msg'] as string, /send the one of the path, or none/)
    }
  })
})
