/** The conditions of a request are limited after its references and row rules have become part of them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Caller } from '../../src/access/caller.ts'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { MAX_CONDITIONS } from '../../src/lang/query-size.ts'
import { printResponse } from '../../src/service/response.ts'
import { MAX_REFERENCES } from '../../src/store/postgres/read/statement-size.ts'
import { citusUrl } from '../support/citus.ts'
import {
  ADMIN,
  ANYONE,
  type TestService,
  callerWith,
  metadataDocument,
  openTestService,
} from '../support/service.ts'
import { onEveryStore } from '../support/store-kind.ts'

const VERSION = '1.0.0-SNAPSHOT'
const STRING: JsonObject = { type: 'string' }
const ITSELF: JsonObject = {
  type: 'reference',
  entity: 'n',
  versionValue: VERSION,
  query: { field: '_id', op: '=', rfield: '$parent.p' },
}
const ROLES = 60
const RULES_PER_ROLE = 200
const CLERK = callerWith('clerk')
const EVERYONE = callerWith(...Array.from({ length: ROLES }, (_, i) => `r${i}`))

function oneOf(count: number): JsonObject {
  return { $or: Array.from({ length: count }, (_, i) => ({ field: 'a', op: '=', rvalue: `v${i}` })) }
}

/** Conditions on documents at the end of a chain of references, each on a document of its own. */
function through(references: number, count: number): JsonObject {
  const field = `${'r.*.'.repeat(references)}a`
  return { $and: Array.from({ length: count }, () => ({ field, op: '=', rvalue: 'v1' })) }
}

interface Answer {
  readonly matchCount?: number
  readonly processed?: readonly { readonly _id: string }[]
  readonly next?: string
  readonly errors?: readonly { readonly errorCode: string; readonly msg: string }[]
}

onEveryStore((kind) => {
  let tester: TestService

  before(async () => {
    tester = await openTestService()
    await define('n', { a: STRING, p: STRING, r: ITSELF }, ['anyone'])
    const rules = Array.from({ length: ROLES }, (_, i) => ({ role: `r${i}`, where: oneOf(RULES_PER_ROLE) }))
    await define('ruled', { a: STRING, p: STRING }, rules)
    await define('narrow', { a: STRING, p: STRING, r: { ...ITSELF, entity: 'narrow' } }, [
      { role: 'clerk', where: oneOf(8) },
    ])
    for (const entity of ['n', 'ruled', 'narrow'])
      assert.equal((await tester.insert(entity, { data: { _id: '1', a: 'v1', p: '1' } })).modifiedCount, 1)
  })
  after(() => tester[Symbol.asyncDispose]())

  function define(entity: string, fields: JsonObject, find: Json, more: JsonObject = {}): Promise<unknown> {
    const schema = { access: { ...ANYONE, find }, version: { value: VERSION, changelog: 'made' } }
    const document = metadataDocument(entity, fields, { info: { defaultVersion: VERSION, ...more }, schema })
    return tester.service.metadata.create(ADMIN, { entity, version: VERSION }, document)
  }

  async function found(caller: Caller, entity: string, query?: JsonObject): Promise<Answer> {
    const body = { ...(query && { query }), projection: { field: '_id' } }
    return JSON.parse(printResponse(await tester.find(entity, body, caller))) as Answer
  }

  async function refused(
    answer: Promise<Answer>,
    reason = new RegExp(`at most ${MAX_CONDITIONS} parts`),
  ): Promise<void> {
    const { errors: [error] = [] } = await answer
    assert.ok(error, 'nothing was refused')
    assert.equal(error.errorCode, 'crud:LimitExceeded', error.msg)
    assert.match(error.msg, reason)
  }

  test('find: a query that references multiply beyond the limit is refused', () =>
    refused(found(CLERK, 'n', through(5, 960))))
  test('find: a query that row rules of references multiply beyond the limit is refused', () =>
    refused(found(CLERK, 'narrow', through(5, 240))))
  test('find: row rules of a caller with very many roles are refused', () =>
    refused(found(EVERYONE, 'ruled')))
  test('find: conditions within the limit are answered', async () => {
    assert.equal((await found(CLERK, 'n', through(5, MAX_REFERENCES / 5))).matchCount, 1)
    assert.equal((await found(callerWith('r1'), 'ruled')).matchCount, 1)
  })

  // On a cluster, the service evaluates conditions on references itself.
  const areLimited = kind === 'postgres' && citusUrl() === undefined
  const others = (query: JsonObject) =>
    [
      () => tester.service.data.update(CLERK, { entity: 'n' }, { query, update: { $set: { a: 'v1' } } }),
      () => tester.service.data.delete(CLERK, { entity: 'n' }, { query: { $and: [{ $not: query }, query] } }),
      () => tester.service.data.aggregate(CLERK, { entity: 'n' }, { query, groupBy: ['a'] }),
    ] as const

  for (const [what, query] of [
    ['through one reference', through(1, MAX_REFERENCES + 1)],
    ['through several', through(3, MAX_REFERENCES / 3 + 1)],
    ['in alternatives', { $or: [through(1, MAX_REFERENCES), { field: 'r#', op: '=', rvalue: 1 }] }],
  ] as const)
    test(`more conditions on references, ${what}, than PostgreSQL plans quickly are ${areLimited ? 'refused' : 'answered'}`, async () => {
      const answer = found(CLERK, 'n', query)
      const reason = new RegExp(`more than ${MAX_REFERENCES} conditions on documents of references`)
      if (areLimited) await refused(answer, reason)
      else assert.equal((await answer).matchCount, 1)
      for (const ask of others(query)) {
        const other = JSON.parse(printResponse(await ask())) as Answer
        if (areLimited) await refused(Promise.resolve(other), reason)
        else assert.equal(other.errors, undefined)
      }
    })

  test('find: conditions on one reference that mean one are not limited by their number', async () => {
    const terms = (op: string) =>
      Array.from({ length: 480 }, (_, i) => ({ field: 'r.*.r.*.a', op, rvalue: `w${i}` }))
    assert.equal((await found(CLERK, 'n', { $and: terms('!=') })).matchCount, 1)
    assert.equal((await found(CLERK, 'n', { $or: terms('=') })).matchCount, 0)
    assert.equal((await found(CLERK, 'n', { $not: { $or: terms('=') } })).matchCount, 1)
  })

  test('find: many pages by cursor under long row rules are complete', async () => {
    const indexes = [{ fields: ['a', 'b', 'c'].map((field) => ({ field, dir: '$asc' })) }]
    const rules = Array.from({ length: ROLES }, (_, i) => ({ role: `r${i}`, where: oneOf(RULES_PER_ROLE) }))
    await define('paged', { a: STRING, b: STRING, c: STRING }, rules, { indexes })
    const data = Array.from({ length: 60 }, (_, i) => ({
      _id: `${i}`,
      a: 'v1',
      b: `${i % 5}`,
      c: `${i % 9}`,
    }))
    assert.equal((await tester.insert('paged', { data })).modifiedCount, 60)
    // with the conditions once in each of seven ranges, the second page had more than a statement can have
    const caller = callerWith(...Array.from({ length: 48 }, (_, i) => `r${i}`))
    const ids: string[] = []
    for (let after: string | undefined, more = true; more; more = after !== undefined) {
      const page = { size: 25, ...(after !== undefined && { after }) }
      const body = {
        page,
        projection: { field: '_id' },
        sort: [{ a: '$asc' }, { b: '$desc' }, { c: '$asc' }],
      }
      const answer = JSON.parse(printResponse(await tester.find('paged', body, caller))) as Answer
      assert.equal(answer.errors, undefined, JSON.stringify(answer.errors))
      ids.push(...answer.processed!.map(({ _id }) => _id))
      after = answer.next
    }
    assert.equal(new Set(ids).size, 60)
    assert.equal(ids.length, 60)
  })

  test('update and delete: a query that references multiply beyond the limit is refused', async () => {
    const query = through(5, 960)
    for (const response of [
      await tester.service.data.update(CLERK, { entity: 'n' }, { query, update: { $set: { a: 'w' } } }),
      await tester.service.data.delete(CLERK, { entity: 'n' }, { query }),
    ])
      await refused(Promise.resolve(JSON.parse(printResponse(response)) as Answer))
  })
})
