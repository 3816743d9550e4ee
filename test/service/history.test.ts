/** Looking back: the versions of a document, finds as of a moment, and that access applies to the past as to the present. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Caller } from '../../src/access/caller.ts'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { type DataResponse, printResponse } from '../../src/service/response.ts'
import {
  ADMIN,
  ANYONE,
  EVERYTHING,
  callerWith,
  codeOf,
  documentsOf,
  openTestService,
  textOf,
  type TestServiceOptions,
} from '../support/service.ts'
import { type Tenant, openTenant } from '../support/shared-service.ts'
import { onEveryStore } from '../support/store-kind.ts'

/** For who needs entities of certain names, or other limits. */
async function openApart(options: TestServiceOptions = {}): Promise<Tenant> {
  return { ...(await openTestService(options)), entity: 't' }
}

const HISTORY = { info: { history: true } }
const FIELDS: JsonObject = {
  _id: { type: 'string', constraints: { identity: true } },
  n: { type: 'integer' },
  owner: { type: 'string' },
  secret: { type: 'string', access: { find: ['boss'] } },
}

function byId(id: string): JsonObject {
  return { field: '_id', op: '=', rvalue: id }
}

function named(principal: string): Caller {
  return { ...ADMIN, principal }
}

async function done(answer: Promise<DataResponse>): Promise<DataResponse> {
  const response = await answer
  assert.equal(response.status, 'COMPLETE', printResponse(response))
  return response
}

async function update(
  tester: Tenant,
  id: string,
  update: Json,
  caller = ADMIN,
  { entity }: Pick<Tenant, 'entity'> = tester,
) {
  const body = { query: byId(id), update, projection: EVERYTHING }
  const response = await done(tester.service.data.update(caller, { entity }, body))
  return versionIn(response)
}

function versionIn({ resultMetadata }: DataResponse): string {
  return textOf((JSON.parse(resultMetadata![0]!) as JsonObject)['documentVersion'])
}

function history(tester: Tenant, id: string, caller = ADMIN, parameters = ''): Promise<DataResponse> {
  return tester.service.data.history(caller, { entity: tester.entity, id }, new URLSearchParams(parameters))
}

async function ids(tester: Tenant, body: JsonObject, caller = ADMIN): Promise<readonly Json[]> {
  const found = await done(tester.find(tester.entity, { projection: EVERYTHING, ...body }, caller))
  return documentsOf(found).map(({ _id }) => _id!)
}

/** Later than all that was written, and earlier than all that will be. */
async function now(): Promise<string> {
  await pause(3)
  const moment = new Date().toISOString()
  await pause(3)
  return moment
}

onEveryStore(() => {
  test('history: lists versions, oldest first, with who wrote them, when, and how', async () => {
    await using tester = await openTenant()
    const { data } = tester.service
    await tester.define(tester.entity, FIELDS, HISTORY)
    await done(data.insert(named('ann'), { entity: tester.entity }, { data: { _id: 'a', n: 1 } }))
    await update(tester, 'a', { $set: { n: 2 } }, named('ben'))
    await update(tester, 'a', { $set: { n: 2 } }, named('nobody'))
    await done(data.save(named('cat'), { entity: tester.entity }, { data: { _id: 'a', n: 3 } }))
    await done(data.delete(named('dan'), { entity: tester.entity }, { query: byId('a') }))
    await done(data.save(named('eve'), { entity: tester.entity }, { data: { _id: 'a', n: 5 }, upsert: true }))
    const listed = await done(history(tester, 'a'))
    const entries = documentsOf(listed)
    assert.deepEqual(
      entries.map(({ operation, principal, document }) => [
        operation,
        principal,
        (document as JsonObject)?.['n'],
      ]),
      [
        ['insert', 'ann', 1],
        ['update', 'ben', 2],
        ['update', 'cat', 3],
        ['delete', 'dan', undefined],
        ['insert', 'eve', 5],
      ],
    )
    assert.equal(listed.matchCount, 5)
    const dates = entries.map(({ date }) => textOf(date))
    assert.deepEqual(dates, dates.toSorted())
    assert.ok(Math.abs(Date.parse(dates[0]!) - Date.now()) < 60_000)
    assert.deepEqual(
      listed.resultMetadata!.map((text) => (JSON.parse(text) as JsonObject)['documentVersion']),
      entries.map(({ documentVersion }) => documentVersion),
    )
  })

  test('history: from, to and maxResults choose versions by their place, and matchCount counts all', async () => {
    await using tester = await openTenant()
    await tester.define(tester.entity, FIELDS, HISTORY)
    await tester.store(tester.entity, { _id: 'a', n: 0 })
    for (let n = 1; n < 5; n++) await update(tester, 'a', { $set: { n } })
    const numbers = async (parameters: string): Promise<readonly Json[]> => {
      const listed = await done(history(tester, 'a', ADMIN, parameters))
      assert.equal(listed.matchCount, 5)
      return documentsOf(listed).map(({ document }) => (document as JsonObject)['n']!)
    }
    assert.deepEqual(await numbers('from=1&to=2'), [1, 2])
    assert.deepEqual(await numbers('from=3'), [3, 4])
    assert.deepEqual(await numbers('maxResults=1'), [0])
    assert.equal(codeOf(await history(tester, 'a', ADMIN, 'limit=1')), 'crud:InvalidRequest')
    assert.equal(codeOf(await history(tester, 'a', ADMIN, 'Q=n:1')), 'crud:InvalidRequest')
    assert.deepEqual(documentsOf(await done(history(tester, 'nobody'))), [])
  })

  test('history: an id that is not of the type of _id is refused, and the place is the id', async () => {
    await using tester = await openApart()
    await tester.define(tester.entity, { ...FIELDS, _id: { type: 'integer' } }, HISTORY)
    const { errors } = await history(tester, 'x')
    assert.equal(errors?.[0]?.errorCode, 'metadata:IncompatibleValue')
    assert.match(errors[0].msg, /"_id" is of type integer.*\(at \/id\)$/)
  })

  test('history: a result larger than the limit is refused', async () => {
    await using tester = await openApart({ limits: { resultBytes: 2_000 } })
    await tester.define(tester.entity, FIELDS, HISTORY)
    await tester.store(tester.entity, { _id: 'a', owner: 'x'.repeat(900) })
    await update(tester, 'a', { $set: { n: 1 } })
    await update(tester, 'a', { $set: { n: 2 } })
    assert.equal(codeOf(await history(tester, 'a')), 'crud:ResultSizeTooLarge')
    assert.equal((await done(history(tester, 'a', ADMIN, 'maxResults=1'))).matchCount, 3)
  })

  test('history: an entity that keeps none is refused, and switching it on begins with what is there', async () => {
    await using tester = await openTenant()
    await tester.define(tester.entity, FIELDS)
    await tester.store(tester.entity, { _id: 'a', n: 1 })
    assert.equal(codeOf(await history(tester, 'a')), 'crud:NoHistory')
    const before = await now()
    assert.equal(
      codeOf(await tester.find(tester.entity, { projection: EVERYTHING, asOf: before })),
      'crud:NoHistory',
    )
    const info = { name: tester.entity, defaultVersion: '1.0.0', indexes: [] }
    await tester.service.metadata.updateInfo(ADMIN, tester.entity, { ...info, history: true })
    const kept = tester.service.metadata.get(ADMIN, tester.entity, '1.0.0') as { entityInfo: JsonObject }
    assert.equal(kept.entityInfo['history'], true)
    await update(tester, 'a', { $set: { n: 2 } })
    const [first, second] = documentsOf(await done(history(tester, 'a')))
    assert.deepEqual(Object.keys(first!), ['documentVersion', 'date', 'document'])
    assert.equal(second!['operation'], 'update')
    const early = await tester.find(tester.entity, { projection: EVERYTHING, asOf: before })
    assert.equal(codeOf(early), 'crud:NoHistory')
    assert.match(early.errors![0]!.msg, /known only from \d{4}-/)
    await tester.service.metadata.updateInfo(ADMIN, tester.entity, info)
    assert.equal(
      codeOf(await tester.find(tester.entity, { projection: EVERYTHING, asOf: await now() })),
      'crud:NoHistory',
    )
    assert.equal((await done(history(tester, 'a'))).matchCount, 2)
  })

  test('metadata: history is true or false, and nothing else', async () => {
    await using tester = await openTenant()
    await assert.rejects(tester.define(tester.entity, FIELDS, { info: { history: 'yes' } }), {
      code: 'metadata:IllFormedMetadata',
    })
  })

  test('asOf: finds, counts, pages and streams answer from the moment, by date and by version', async () => {
    await using tester = await openTenant()
    await tester.define(tester.entity, FIELDS, HISTORY)
    await tester.store(tester.entity, [
      { _id: 'a', n: 1 },
      { _id: 'b', n: 2 },
    ])
    const first = await now()
    const version = await update(tester, 'a', { $set: { n: 9 } })
    await done(tester.service.data.delete(ADMIN, { entity: tester.entity }, { query: byId('b') }))
    await tester.store(tester.entity, { _id: 'c', n: 1 })
    const isOne = { field: 'n', op: '=', rvalue: 1 }
    assert.deepEqual(await ids(tester, { query: isOne }), ['c'])
    assert.deepEqual(await ids(tester, { query: isOne, asOf: first }), ['a'])
    assert.deepEqual(await ids(tester, { asOf: first, sort: { n: '$desc' } }), ['b', 'a'])
    assert.deepEqual(await ids(tester, { asOf: version }), ['a', 'b'])
    const past = await done(
      tester.find(tester.entity, { projection: EVERYTHING, asOf: first, range: [0, 0] }),
    )
    assert.equal(past.matchCount, 2)
    const simple = new URLSearchParams({ Q: 'n:1', asOf: first })
    const found = await done(tester.service.data.simpleFind(ADMIN, { entity: tester.entity }, simple))
    assert.deepEqual(
      documentsOf(found).map(({ _id }) => _id),
      ['a'],
    )
    const lines = await tester.service.data.stream(
      ADMIN,
      { entity: tester.entity },
      { projection: EVERYTHING, asOf: first },
    )
    assert.ok(Symbol.asyncIterator in lines)
    assert.equal((await Array.fromAsync(lines)).length, 4)
    const explained = await done(
      tester.service.data.explain(ADMIN, { entity: tester.entity }, { projection: EVERYTHING, asOf: first }),
    )
    assert.equal(explained.matchCount, 2)
    const bulk = await tester.service.data.bulk(ADMIN, {
      atomic: true,
      requests: [
        { seq: 1, op: 'find', request: { entity: tester.entity, projection: EVERYTHING, asOf: first } },
      ],
    })
    assert.match(bulk, /"matchCount":2/)
  })

  for (const asOf of [
    'yesterday',
    '2026-01-02',
    '2026-01-02T03:04:05',
    '2026-13-02T03:04:05Z',
    'a:5',
    '',
    5,
  ] as const) {
    test(`asOf: ${JSON.stringify(asOf)} is no moment`, async () => {
      await using tester = await openTenant()
      await tester.define(tester.entity, FIELDS, HISTORY)
      assert.equal(
        codeOf(await tester.find(tester.entity, { projection: EVERYTHING, asOf })),
        'crud:InvalidRequest',
      )
    })
  }

  test('asOf: the date of a version, as history tells it, finds that version', async () => {
    await using tester = await openTenant()
    await tester.define(tester.entity, FIELDS, HISTORY)
    await tester.store(tester.entity, { _id: 'a', n: 0 })
    for (let n = 1; n < 4; n++) await update(tester, 'a', { $set: { n } })
    for (const entry of documentsOf(await done(history(tester, 'a')))) {
      for (const asOf of [textOf(entry['date']), textOf(entry['documentVersion'])]) {
        const [document] = documentsOf(
          await done(tester.find(tester.entity, { projection: EVERYTHING, asOf })),
        )
        assert.deepEqual(document, entry['document'])
      }
    }
  })

  test('asOf: an atomic bulk is one moment', async () => {
    await using tester = await openTenant()
    await tester.define(tester.entity, FIELDS, HISTORY)
    await tester.store(tester.entity, [
      { _id: 'a', n: 0 },
      { _id: 'b', n: 0 },
    ])
    const op = (seq: number, id: string): JsonObject => {
      const request = {
        entity: tester.entity,
        query: byId(id),
        update: { $set: { n: seq } },
        projection: EVERYTHING,
      }
      return { seq, op: 'update', request }
    }
    await tester.service.data.bulk(ADMIN, { atomic: true, requests: [op(1, 'a'), op(2, 'b'), op(3, 'a')] })
    const listed = documentsOf(await done(history(tester, 'b')))
    const asOf = textOf(listed[1]!['documentVersion'])
    const found = documentsOf(await done(tester.find(tester.entity, { projection: EVERYTHING, asOf })))
    assert.deepEqual(found.map(({ n }) => n).includes(0), false)
  })

  test('history: hidden fields are stripped, and a hidden _id refuses the question', async () => {
    await using tester = await openApart()
    await tester.define(tester.entity, FIELDS, HISTORY)
    await tester.store(tester.entity, { _id: 'a', n: 1, secret: 'canary' })
    await update(tester, 'a', { $set: { n: 2 } })
    const answer = printResponse(await done(history(tester, 'a', callerWith('x'))))
    assert.doesNotMatch(answer, /canary|secret/)
    assert.match(printResponse(await done(history(tester, 'a', callerWith('boss')))), /canary/)
    const asOf = await now()
    assert.doesNotMatch(
      printResponse(await done(tester.find(tester.entity, { projection: EVERYTHING, asOf }))),
      /canary/,
    )
    const query = { field: 'secret', op: '=', rvalue: 'canary' }
    assert.equal(
      codeOf(await tester.find(tester.entity, { query, projection: EVERYTHING, asOf })),
      'crud:NoAccess',
    )

    const hidden = { ...FIELDS, _id: { type: 'string', access: { find: ['boss'] } } }
    await tester.define('u', hidden, HISTORY)
    await tester.store('u', { _id: 'a', n: 1 })
    const asked = await tester.service.data.history(ADMIN, { entity: 'u', id: 'a' }, new URLSearchParams())
    assert.equal(codeOf(asked), 'crud:NoAccess')
  })

  test('history: rules on documents are asked of every version', async () => {
    await using tester = await openTenant()
    const own = { role: 'user', where: { field: 'owner', op: '=', rvalue: '$caller.principal' } }
    const access = { ...ANYONE, find: ['boss', own] }
    await tester.define(tester.entity, FIELDS, { ...HISTORY, schema: { access: access } })
    const boss = callerWith('boss')
    await tester.insert(tester.entity, { data: { _id: 'a', n: 1, owner: 'ann' } }, boss)
    await update(tester, 'a', { $set: { n: 2 } }, boss)
    await update(tester, 'a', { $set: { owner: 'ben', n: 3 } }, boss)
    await done(tester.service.data.delete(boss, { entity: tester.entity }, { query: byId('a') }))
    const seenBy = async (name: string): Promise<readonly Json[]> => {
      const caller = { ...callerWith('user'), principal: name }
      const listed = await done(history(tester, 'a', caller))
      assert.equal(listed.matchCount, listed.processed!.length)
      return documentsOf(listed).map(({ operation, document }) => [
        operation!,
        (document as JsonObject)?.['n'] ?? null,
      ])
    }
    assert.deepEqual(await seenBy('ann'), [
      ['insert', 1],
      ['update', 2],
    ])
    assert.deepEqual(await seenBy('ben'), [
      ['update', 3],
      ['delete', null],
    ])
    assert.deepEqual(await seenBy('eve'), [])
    assert.equal((await done(history(tester, 'a', boss))).matchCount, 4)
  })

  test('history: whoever may not find is refused', async () => {
    await using tester = await openApart()
    await tester.define(tester.entity, FIELDS, {
      ...HISTORY,
      schema: { access: { ...ANYONE, find: ['boss'] } },
    })
    assert.equal(codeOf(await history(tester, 'a', callerWith('x'))), 'crud:NoAccess')
    assert.equal(
      codeOf(await tester.find(tester.entity, { projection: EVERYTHING, asOf: await now() })),
      'crud:NoAccess',
    )
  })

  const REFERENCE: JsonObject = {
    ...FIELDS,
    others: {
      type: 'reference',
      entity: 'other',
      versionValue: '1.0.0',
      query: { field: 'of', op: '=', rfield: '$parent._id' },
      projection: EVERYTHING,
    },
  }

  test('asOf: references join documents of the same moment', async () => {
    await using tester = await openApart()
    await tester.define('other', { of: { type: 'string' }, s: { type: 'string' } }, HISTORY)
    await tester.define(tester.entity, REFERENCE, HISTORY)
    await tester.store(tester.entity, [{ _id: 'a' }, { _id: 'b' }])
    await tester.store('other', [
      { _id: 'x', of: 'a', s: 'old' },
      { _id: 'y', of: 'b', s: 'old' },
    ])
    const then = await now()
    await update(tester, 'x', { $set: { of: 'b', s: 'new' } }, ADMIN, { entity: 'other' })
    const projection = [EVERYTHING, { field: 'others', recursive: true }]
    const joinedAt = async (more: JsonObject): Promise<readonly Json[]> => {
      const found = await done(tester.find(tester.entity, { projection, ...more }))
      return documentsOf(found).map(({ _id, others }) => {
        return [_id!, ...((others as readonly JsonObject[] | undefined) ?? []).map(({ s }) => s!)]
      })
    }
    assert.deepEqual(await joinedAt({}), [['a'], ['b', 'new', 'old']])
    assert.deepEqual(await joinedAt({ asOf: then }), [
      ['a', 'old'],
      ['b', 'old'],
    ])
    const query = { field: 'others.*.s', op: '=', rvalue: 'new' }
    assert.deepEqual(await joinedAt({ query, asOf: then }), [])
    assert.deepEqual(await joinedAt({ query }), [['b', 'new', 'old']])
  })

  test('asOf: a reference to an entity that keeps no history is refused, where it is followed', async () => {
    await using tester = await openApart()
    await tester.define('other', { of: { type: 'string' }, s: { type: 'string' } })
    await tester.define(tester.entity, REFERENCE, HISTORY)
    await tester.store(tester.entity, [{ _id: 'a' }])
    const asOf = await now()
    assert.deepEqual(await ids(tester, { asOf }), ['a'])
    const projection = [EVERYTHING, { field: 'others', recursive: true }]
    const refused = await tester.find(tester.entity, { projection, asOf })
    assert.equal(codeOf(refused), 'crud:NoHistory')
    assert.match(refused.errors![0]!.msg, /of other are kept/)
    const query = { field: 'others.*.s', op: '=', rvalue: 'new' }
    assert.equal(
      codeOf(await tester.find(tester.entity, { query, projection: EVERYTHING, asOf })),
      'crud:NoHistory',
    )
  })

  test('history: an update in hidden fields alone is not listed, and counts and pages leave it out', async () => {
    await using tester = await openTenant()
    const fields = { ...FIELDS, version: { type: 'string', documentVersion: true } }
    await tester.define(tester.entity, fields, HISTORY)
    const boss = callerWith('boss')
    await tester.insert(tester.entity, { data: { _id: 'a', n: 1, secret: 'x' } }, boss)
    await update(tester, 'a', { $set: { secret: 'y' } }, boss)
    await update(tester, 'a', { $set: { n: 2 } }, boss)
    for (let i = 0; i < 60; i++) await update(tester, 'a', { $set: { secret: `z${i}` } }, boss)
    await update(tester, 'a', { $set: { n: 1, secret: 'x' } }, boss)
    await done(tester.service.data.delete(boss, { entity: tester.entity }, { query: byId('a') }))
    await tester.insert(tester.entity, { data: { _id: 'a', n: 1, secret: 'x' } }, boss)
    const listed = await done(history(tester, 'a', callerWith('x')))
    assert.deepEqual(
      documentsOf(listed).map(({ operation, document }) => [operation, (document as JsonObject)?.['n']]),
      [
        ['insert', 1],
        ['update', 2],
        ['update', 1],
        ['delete', undefined],
        ['insert', 1],
      ],
    )
    assert.equal(listed.matchCount, 5)
    const page = await done(history(tester, 'a', callerWith('x'), 'from=1&to=2'))
    assert.deepEqual(page.processed, listed.processed!.slice(1, 3))
    assert.equal(page.matchCount, 5)
    assert.equal((await done(history(tester, 'a', boss))).matchCount, 66)
  })
})
