/** Two processes on one database: nothing is given twice, nothing is lost, and each sees what the other changed. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { freshDatabase } from '../../support/postgres.ts'
import type { Answer } from '../../support/server.ts'
import { metadataDocument } from '../../support/service.ts'
import { type SmaltProcess, startSmalt } from '../../support/smalt-process.ts'
import { useStore } from '../../support/store-kind.ts'

useStore('postgres')

const BOUNDED = { timeout: 400_000 }
let database: Awaited<ReturnType<typeof freshDatabase>>
let both: readonly [SmaltProcess, SmaltProcess]

before(async () => {
  database = await freshDatabase()
  both = await Promise.all([startSmalt(database.url), startSmalt(database.url)])
}, BOUNDED)
after(async () => {
  for (const each of both) await each[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

const ID = { type: 'string', constraints: { identity: true } }
const EVERYTHING = { field: '*', recursive: true }

/** Defines an entity on the first process, and waits until the second knows it. */
async function define(
  entity: string,
  fields: JsonObject,
  indexes: readonly JsonObject[] = [],
): Promise<void> {
  const body = metadataDocument(entity, { _id: ID, ...fields }, { info: { indexes: [...indexes] } })
  ok(await both[0].ask('PUT', `/metadata/${entity}/1.0.0`, body))
  await until(async () => (await both[1].ask('GET', `/metadata/${entity}/1.0.0`)).status === 200)
}

function ok(answer: Answer): Answer {
  assert.equal(answer.status, 200, answer.text)
  return answer
}

async function until(isTrue: () => Promise<boolean>, limitMs = 60_000): Promise<void> {
  for (const deadline = Date.now() + limitMs; !(await isTrue()); await sleep(10))
    assert.ok(Date.now() < deadline, `still not so after ${limitMs} ms`)
}

/** The same on both processes at the same time, so many times. */
async function onBoth(count: number, work: (process: SmaltProcess, i: number) => Promise<Answer>) {
  const answers = Array.from({ length: count }, (_, i) => both.map((process) => work(process, i)))
  return (await Promise.all(answers.flat())).map((answer) => ok(answer).json)
}

async function stored(entity: string): Promise<readonly JsonObject[]> {
  const [one, other] = await Promise.all(both.map((each) => each.ask('GET', `/data/find/${entity}`)))
  assert.deepEqual(ok(one!).json.processed, ok(other!).json.processed)
  return one!.json.processed
}

test('insert: of two processes that insert the same identity one wins', BOUNDED, async () => {
  await define('place', { by: { type: 'integer' } })
  const answers = await onBoth(60, (process, i) =>
    process.ask('PUT', '/data/insert/place', { data: { _id: `p${i}`, by: both.indexOf(process) } }),
  )
  const won = answers.filter(({ status }) => status === 'COMPLETE')
  const lost = answers.filter(({ status }) => status === 'ERROR')
  assert.deepEqual([won.length, lost.length], [60, 60])
  for (const { dataErrors } of lost) assert.equal(dataErrors[0].errors[0].errorCode, 'store-crud:Duplicate')
  assert.equal((await stored('place')).length, 60)
})

test('save: both processes may make the same new document, and there is one of it', BOUNDED, async () => {
  await define('pair', { a: { type: 'integer' }, b: { type: 'integer' } })
  const answers = await onBoth(60, (process, i) =>
    process.ask('POST', '/data/save/pair', { data: { _id: `p${i}`, a: i }, upsert: true }),
  )
  assert.deepEqual(
    new Set(answers.map(({ status }) => status)),
    new Set(['COMPLETE']),
    JSON.stringify(answers[0]),
  )
  const documents = await stored('pair')
  assert.deepEqual(documents.length, 60)
})

test('update: no $add of either process is lost', BOUNDED, async () => {
  await define('tally', { n: { type: 'integer' } })
  ok(
    await both[0].ask('PUT', '/data/insert/tally', {
      data: [
        { _id: 'x', n: 0 },
        { _id: 'y', n: 0 },
      ],
    }),
  )
  const query = { field: '_id', op: '$in', values: ['x', 'y'] }
  await onBoth(50, (process, i) => {
    const rvalue = i % 2 === 0 ? 'x' : 'y'
    const one = { field: '_id', op: '=', rvalue }
    return process.ask('POST', '/data/update/tally', {
      query: i % 5 === 0 ? query : one,
      update: { $add: { n: 1 } },
    })
  })
  const sum = (await stored('tally')).reduce((total, { n }) => total + Number(n), 0)
  // every fifth request adds to both
  assert.equal(sum, 2 * (50 + 10))
})

test('sequence: no value is given twice', BOUNDED, async () => {
  const valueGenerator = {
    type: 'IntSequence',
    configuration: { name: 'shared', initialValue: 10, increment: 5 },
  }
  await define('numbered', { no: { type: 'integer', constraints: { required: true }, valueGenerator } })
  const inserted = await onBoth(30, (process, i) => {
    const data = Array.from({ length: 1 + (i % 4) }, () => ({}))
    return process.ask('PUT', '/data/insert/numbered', { data, projection: EVERYTHING })
  })
  const saved = await onBoth(30, (process, i) => {
    const _id = `${both.indexOf(process)}-${i}`
    return process.ask('POST', '/data/save/numbered', { data: { _id }, upsert: true, projection: EVERYTHING })
  })
  const generated = await onBoth(5, (process) => process.ask('GET', '/data/generate/numbered/no?n=7'))
  const numbers = [...inserted, ...saved].flatMap(({ processed }) =>
    processed.map((each: JsonObject) => each['no']),
  )
  const all = [...numbers, ...generated.flatMap(({ processed }) => processed)]
  // thirty requests of one to four documents each, thirty of one, and five of seven numbers; all of it twice
  assert.equal(all.length, 2 * (73 + 30 + 5 * 7))
  assert.equal(new Set(all).size, all.length)
  for (const each of all) assert.equal((Number(each) - 10) % 5, 0)
})

test('lock: one caller at a time holds it, whichever process they ask', BOUNDED, async () => {
  let holders = 0
  let times = 0
  const work = async (process: SmaltProcess, callerId: string): Promise<void> => {
    const lock = (operation: string): Promise<Answer> =>
      process.ask('POST', '/data/lock', { operation, domain: 'd', callerId, resourceId: 'r', ttl: 60_000 })
    for (let done = 0; done < 10;) {
      if (ok(await lock('acquire')).json.result !== true) continue
      assert.equal(++holders, 1)
      times++
      await process.ask('GET', '/health')
      assert.equal(holders--, 1)
      ok(await lock('release'))
      done++
    }
  }
  await Promise.all([0, 1, 2, 3].map((i) => work(both[i % 2]!, `c${i}`)))
  assert.equal(times, 40)
})

test('metadata: what one process changes the other shows within a second', BOUNDED, async () => {
  await define('shown', { a: { type: 'string' } })
  for (let i = 1; i <= 6; i++) {
    const [one, other] = i % 2 === 0 ? both : both.toReversed()
    const version = `1.0.${i}`
    const schema = { version: { value: version, changelog: 'more' } }
    const fields = { _id: ID, a: { type: 'string' }, [`b${i}`]: { type: 'string' } }
    ok(await one.ask('PUT', `/metadata/shown/${version}`, metadataDocument('shown', fields, { schema })))
    assert.equal((await one.ask('GET', `/metadata/shown/${version}`)).status, 200)
    await until(async () => (await other.ask('GET', `/metadata/shown/${version}`)).status === 200, 1_000)
    ok(await other.ask('PUT', `/data/insert/shown/${version}`, { data: { [`b${i}`]: 'x' } }))
  }
})

test('metadata: of two changes at the same time one wins, the other is refused', BOUNDED, async () => {
  await define('contested', { a: { type: 'string' } })
  for (let i = 1; i <= 8; i++) {
    const version = `1.0.${i}`
    const answers = await Promise.all(
      both.map((process, who) => {
        const schema = { version: { value: version, changelog: `by ${who}` } }
        const body = metadataDocument('contested', { _id: ID, [`f${who}`]: { type: 'string' } }, { schema })
        return process.ask('PUT', `/metadata/contested/${version}`, body)
      }),
    )
    const statuses = answers.map(({ status }) => status).toSorted()
    assert.deepEqual(statuses, [200, 409], answers.map(({ text }) => text).join('\n'))
    const winner = answers.findIndex(({ status }) => status === 200)
    for (const process of both) {
      await until(async () => (await process.ask('GET', `/metadata/contested/${version}`)).status === 200)
      const { text } = await process.ask('GET', `/metadata/contested/${version}`)
      assert.match(text, new RegExp(`"changelog":"by ${winner}"`))
    }
  }
})
