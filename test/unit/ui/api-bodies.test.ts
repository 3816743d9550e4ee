/** Bodies for operations that are tried in the page: made from the metadata of the entity. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, Metadata } from '../../../ui/client/types.ts'
import { parseJson } from '../../../ui/client/json.ts'
import { bodyFor } from '../../../ui/views/api/body-for.ts'
import type { Operation } from '../../../ui/views/api/operations.ts'

const REQUIRED = { constraints: { required: true } }

/** The fields of an entity, and the document that an insert into it begins with. */
const DOCUMENTS: readonly (readonly [string, Fields, object])[] = [
  ['no field that is required', { a: { type: 'integer' }, b: { type: 'string' } }, { b: 'example' }],
  ['no text', { a: { type: 'integer' } }, {}],
  ['a field of every type', everyType(), everyValue()],
  ['texts that are short', { a: { type: 'string', constraints: { maxLength: 2 } } }, { a: 'ex' }],
  ['texts that are long', { a: { type: 'string', constraints: { minLength: 9 } } }, { a: 'examplexx' }],
  ['an enum', { a: { type: 'string', constraints: { enum: 'levels' } } }, { a: 'junior' }],
  ['a text that few may insert', { a: { type: 'string', access: { insert: ['hr'] } } }, {}],
  ['an empty list of access', { a: { type: 'string', access: { insert: [] } } }, { a: 'example' }],
  ['a generated value', { a: { type: 'uid', ...REQUIRED, valueGenerator: { type: 'UUID' } } }, {}],
  ['an _id that is made', { _id: { type: 'string', constraints: { identity: true } } }, {}],
  ['an _id that is sent', { _id: { type: 'integer', constraints: { identity: true } } }, { _id: 1 }],
  ['a version that is filled', { a: { type: 'string', documentVersion: true } }, {}],
  [
    'elements that are required',
    {
      list: {
        type: 'array',
        constraints: { required: true, minItems: 1 },
        items: { type: 'object', fields: { n: { type: 'integer', ...REQUIRED }, m: { type: 'string' } } },
      },
    },
    { list: [{ n: 1 }] },
  ],
]
for (const [title, fields, document] of DOCUMENTS)
  test(`api: the document of an insert, for an entity with ${title}`, () => {
    assert.deepEqual(bodyOf('insertDefault', fields)['data'], [document])
  })

test('api: a query names a text that all may find, or what every document has', () => {
  const fields: Fields = {
    'list#': { type: 'integer' },
    objectType: { type: 'string' },
    hidden: { type: 'string', access: { find: ['hr'] } },
    shown: { type: 'string' },
  }
  assert.equal(bodyOf('find', fields)['query'].field, 'shown')
  assert.equal(bodyOf('find', { n: { type: 'integer' } })['query'].field, 'objectType')
})

test('api: a delete matches no document but that of the example', () => {
  const query = { field: 'a', op: '=', rvalue: 'example' }
  assert.deepEqual(bodyOf('delete', { a: { type: 'string' } }), { query })
  // the value of this field may be any name
  assert.deepEqual(bodyOf('delete', {}), { query: { field: 'objectType', op: '=', rvalue: '' } })
})

test('api: an update sets a text that all may change, which is no identity', () => {
  const fields: Fields = {
    code: { type: 'string', constraints: { identity: true } },
    locked: { type: 'string', access: { update: ['noone'] } },
    title: { type: 'string' },
  }
  assert.deepEqual(bodyOf('update', fields)['update'], { $set: { title: 'example' } })
})

test('api: a body without entity and fields stays the example', () => {
  assert.equal(bodyFor(operation('lock'), metadata({}), ''), undefined)
})

// eslint-disable-next-line typescript/no-explicit-any -- the tests look into it
function bodyOf(id: string, fields: Fields): any {
  return parseJson(bodyFor(operation(id), metadata(fields), '')!)
}

function operation(id: string): Operation {
  const texts = { method: 'POST', path: '', tag: '', summary: '', description: '' }
  return { id, ...texts, parameters: [], body: '{}', bodyType: 'application/json' }
}

function metadata(fields: Fields): Metadata {
  return {
    entityInfo: { name: 'e', enums: [{ name: 'levels', values: ['junior', 'lead'] }] },
    schema: { name: 'e', version: { value: '1.0.0' }, status: { value: 'active' }, fields },
  }
}

function everyType(): Fields {
  const types = Object.keys(everyValue()).map((type) => [type, { type, ...REQUIRED }])
  return Object.fromEntries(types) as Fields
}

function everyValue(): object {
  return {
    string: 'example',
    uid: 'example',
    integer: 1,
    biginteger: 1,
    double: 1,
    bigdecimal: 1,
    boolean: true,
    date: '2026-01-02T03:04:05Z',
    binary: '',
    object: {},
    array: [],
  }
}
