/** Leaks that the non-interference test has found, each in its smallest form: two documents that must look alike. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import { type DataResponse, printResponse } from '../../../src/service/response.ts'
import { type TestService, callerWith, openTestService, textOf } from '../../support/service.ts'

const CLERK = callerWith()
const SECRET = { type: 'integer', access: { find: ['boss'] } }
const EVERYTHING: Json = { field: '*', recursive: true }

interface Found {
  readonly rule: string
  readonly fields: JsonObject
  /** Two states of one document that differ in what is out of sight. */
  readonly states: readonly [JsonObject, JsonObject]
  readonly ask: (on: TestService) => Promise<DataResponse>
}

const find = (on: TestService): Promise<DataResponse> => on.find('e', { projection: EVERYTHING }, CLERK)

function update(change: Json): Found['ask'] {
  return (on) => on.service.data.update(CLERK, { entity: 'e' }, { query: { $and: [] }, update: change })
}

const BOX = { type: 'object', fields: { seen: { type: 'integer' }, secret: SECRET } }
const BOXES = {
  type: 'array',
  items: { type: 'object', fields: { seen: { type: 'integer' }, secret: SECRET } },
}
const SAFE = {
  type: 'object',
  access: { find: ['boss'] },
  fields: { pin: { type: 'string', constraints: { required: true } }, note: { type: 'string' } },
}

const FOUND: readonly Found[] = [
  {
    rule: 'find: an object that holds only what is out of sight looks like an empty one',
    fields: { box: BOX },
    states: [{ box: {} }, { box: { secret: 1 } }],
    ask: find,
  },
  {
    rule: 'find: an element that holds only what is out of sight looks like an empty one',
    fields: { boxes: BOXES },
    states: [{ boxes: [{}, { seen: 1 }] }, { boxes: [{ secret: 1 }, { seen: 1 }] }],
    ask: find,
  },
  {
    rule: 'update: an object that is removed and put back counts the same whatever was hidden in it',
    fields: { box: BOX },
    states: [{ box: { seen: 1 } }, { box: { seen: 1, secret: 1 } }],
    ask: update([{ $unset: 'box' }, { $set: { box: { seen: 1 } } }]),
  },
  {
    rule: 'update: elements that are removed and put back count the same whatever was hidden in them',
    fields: { boxes: BOXES },
    states: [{ boxes: [{ seen: 1 }] }, { boxes: [{ seen: 1, secret: 1 }] }],
    ask: update([{ $foreach: { boxes: '$all', $update: '$remove' } }, { $append: { boxes: { seen: 1 } } }]),
  },
  {
    rule: 'update: whoever sets something out of sight must give what it needs, whether or not it is there',
    fields: { safe: SAFE },
    states: [{}, { safe: { pin: '1234' } }],
    ask: update({ $set: { safe: { note: 'n' } } }),
  },
  {
    rule: 'update: a member of something out of sight is not set where other members are needed beside it',
    fields: { safe: SAFE },
    states: [{}, { safe: { pin: '1234' } }],
    ask: update({ $set: { 'safe.note': 'n' } }),
  },
  {
    rule: 'update: what something out of sight needs is not taken away, whether or not it is there',
    fields: { safe: SAFE },
    states: [{}, { safe: { pin: '1234' } }],
    ask: update({ $unset: 'safe.pin' }),
  },
  {
    rule: 'update: elements out of sight are not taken away, whether or not there are any',
    fields: {
      list: {
        type: 'array',
        items: { type: 'integer' },
        constraints: { minItems: 1 },
        access: { find: ['boss'] },
      },
    },
    states: [{}, { list: [1] }],
    ask: update({ $foreach: { list: '$all', $update: '$remove' } }),
  },
  {
    rule: 'save: whoever names something out of sight must give what it needs, whether or not it is there',
    fields: { safe: SAFE },
    states: [{}, { safe: { pin: '1234' } }],
    ask: (on) => on.service.data.save(CLERK, { entity: 'e' }, { data: { _id: '1', safe: { note: 'n' } } }),
  },
]

for (const { rule, fields, states, ask } of FOUND) {
  test(rule, async () => {
    const answers = await Promise.all(
      states.map(async (state) => {
        await using on = await openTestService()
        await on.define('e', { _id: { type: 'string' }, ...fields })
        await on.store('e', [{ _id: '1', ...state }])
        return withoutVersions(await ask(on))
      }),
    )
    assert.deepEqual(answers[0], answers[1])
  })
}

test('update: members out of sight that nothing needs are carried over where something out of sight is named', async () => {
  await using on = await openTestService()
  await on.define('e', { _id: { type: 'string' }, safe: SAFE })
  await on.store('e', [{ _id: '1', safe: { pin: '1234', note: 'n' } }])
  await update({ $set: { safe: { pin: '4321' } } })(on)
  const { processed } = await on.find(
    'e',
    { projection: { field: 'safe', recursive: true } },
    callerWith('boss'),
  )
  assert.deepEqual(processed, ['{"safe":{"pin":"4321","note":"n"}}'])
})

test('find: the mark of a document reveals nothing of documents of other entities whose _id is the same', async () => {
  await using on = await openTestService()
  const marks = []
  for (const entity of ['e', 'f']) {
    await on.define(entity, { _id: { type: 'string', access: { find: ['boss'] } } })
    await on.store(entity, [{ _id: '1' }])
    const { resultMetadata = [] } = await on.find(entity, { projection: EVERYTHING }, CLERK)
    const [metadata] = resultMetadata.map((text) => parseTrusted(text) as JsonObject)
    marks.push(textOf(metadata!['documentVersion']).split(':')[0])
  }
  assert.notEqual(marks[0], marks[1])
})

function withoutVersions(response: DataResponse): Json {
  return parseTrusted(printResponse({ ...response, resultMetadata: [] }))
}
