/** Generators that can never fulfil the constraints of their field: refused when metadata is written, found in what is stored. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reachOf, reachesIn } from '../../../src/access/reach.ts'
import { ServiceError } from '../../../src/base/errors.ts'
import { type Json, type JsonObject, isObject } from '../../../src/base/json/json.ts'
import { compileSchema } from '../../../src/metadata/compile.ts'
import { parseEntityInfo } from '../../../src/metadata/documents/entity-info.ts'
import { parseSchemaDocument } from '../../../src/metadata/documents/schema-document.ts'
import type { Finding } from '../../../src/metadata/finding.ts'
import { lint } from '../../../src/metadata/lint/lint.ts'
import { checkGenerators } from '../../../src/metadata/validate/check-generators.ts'
import { CONFIGURED, infoOf, schemaOf } from './samples.ts'

const ENUMS = [
  { name: 'words', values: ['new', 'old'] },
  { name: 'numbers', values: ['007', '-3', '5', '1200'] },
  { name: 'uuids', values: ['x', '0f8fad5b-d9cb-469f-a165-70867728950e'] },
  { name: 'dates', values: ['20240102T03:04:05.678+0000'] },
]
const ACCESS = { find: ['anyone'], insert: ['hr'], update: ['hr'], delete: ['hr'] }

function compiled(field: JsonObject) {
  const info = parseEntityInfo(infoOf({ name: 'item', enums: ENUMS }), '', CONFIGURED)
  const document = schemaOf({ made: field }, { name: 'item', access: ACCESS })
  return { info, schema: compileSchema(info, parseSchemaDocument(document, ''), []) }
}

function findingsIn(field: JsonObject): readonly Finding[] {
  const { info, schema } = compiled(field)
  const found = lint(info, [schema], { access: { reachOf, reachesIn }, others: () => undefined })
  return found.filter(({ code }) => code === 'no-possible-value')
}

function generated(type: string, generator: Json, constraints: JsonObject): JsonObject {
  const named = isObject(generator)
    ? { type: 'IntSequence', configuration: { name: 's', ...generator } }
    : { type: generator }
  return { type, constraints, valueGenerator: named }
}

const raw = (text: string): Json => JSON.rawJSON(text)

type Row = readonly [field: JsonObject, message: RegExp]

const IMPOSSIBLE: readonly Row[] = [
  [generated('string', 'UUID', { maxLength: 10 }), /UUIDs, which have 36 characters, and "maxLength" is 10/],
  [generated('uid', 'UUID', { minLength: 37 }), /"minLength" is 37/],
  [generated('string', 'UUID', { enum: 'words' }), /no value of the enum words can be one of them/],
  [generated('uid', 'UUID', { enum: 'uuids', matches: '[A-Z].*' }), /enum uuids/],
  [
    generated('string', 'CurrentTime', { maxLength: 20 }),
    /dates, which have 26 characters, and "maxLength" is 20/,
  ],
  [generated('string', 'CurrentTime', { enum: 'words' }), /enum words/],
  [
    generated('biginteger', {}, { minimum: raw('9223372036854775808') }),
    /at most 9223372036854775807, and "minimum" is 9223372036854775808/,
  ],
  [
    generated('bigdecimal', { increment: -1 }, { maximum: raw('-9223372036854775809') }),
    /at least -9223372036854775808, and "maximum" is -9223372036854775809/,
  ],
  [generated('double', {}, { minimum: raw('9007199254740992') }), /"minimum" is 9007199254740992/],
  [generated('string', {}, { minLength: 21 }), /1 to 20 characters, and "minLength" is 21/],
  [generated('string', {}, { enum: 'words' }), /enum words/],
  [generated('string', {}, { enum: 'numbers', minLength: 5 }), /enum numbers/],
]

/** Each may generate a value that fulfils the constraints, now or later. */
const POSSIBLE: readonly JsonObject[] = [
  generated('string', 'UUID', { minLength: 36, maxLength: 36, required: true }),
  generated('string', 'UUID', { enum: 'uuids' }),
  generated('string', 'UUID', { matches: '.*a.*' }),
  generated('date', 'CurrentTime', { required: true }),
  generated('string', 'CurrentTime', { enum: 'dates' }),
  generated('string', 'CurrentUser', { enum: 'words', maxLength: 3 }),
  generated('integer', { initialValue: 1 }, { minimum: 2 }),
  // another entity may have begun the sequence, with other numbers
  generated('integer', { initialValue: 1000 }, { maximum: 999 }),
  generated('integer', { increment: -1 }, { minimum: 2 }),
  generated('double', { initialValue: '9007199254740993' }, {}),
  generated('string', { initialValue: 1000 }, { maxLength: 3 }),
  generated('integer', { initialValue: 1000 }, { maximum: 1000 }),
  generated('integer', { initialValue: 1000, increment: -1 }, { maximum: 999 }),
  generated('string', { initialValue: -1000 }, { maxLength: 1 }),
  generated('string', { increment: -1 }, { minLength: 20 }),
  generated('string', { initialValue: 6 }, { enum: 'numbers' }),
  generated('string', { increment: -1 }, { enum: 'numbers' }),
  { type: 'string', constraints: { maxLength: 3 } },
  { type: 'uid', constraints: { required: true } },
]

for (const [field, message] of IMPOSSIBLE) {
  test(`no-possible-value: ${JSON.stringify(field)}`, () => {
    const [finding, ...others] = findingsIn(field)
    assert.deepEqual(others, [])
    assert.equal(finding?.severity, 'warning')
    assert.equal(finding.at, '/schema/fields/made/valueGenerator')
    assert.match(finding.msg, message)
    assert.throws(
      () => checkGenerators(compiled(field).schema),
      (error) =>
        error instanceof ServiceError &&
        error.code === 'metadata:InvalidGenerator' &&
        error.context === 'fields/made' &&
        message.test(error.message),
    )
  })
}

for (const field of POSSIBLE) {
  test(`no-possible-value: none in ${JSON.stringify(field)}`, () => {
    assert.deepEqual(findingsIn(field), [])
    checkGenerators(compiled(field).schema)
  })
}

test('no-possible-value: a uid that clients may send is a hint, and is not refused', () => {
  const field = { type: 'uid', constraints: { maxLength: 24 } }
  assert.deepEqual(
    findingsIn(field).map(({ severity, at }) => [severity, at]),
    [['hint', '/schema/fields/made/constraints']],
  )
  checkGenerators(compiled(field).schema)
})

test('no-possible-value: a stored default that violates a constraint', () => {
  const array = { type: 'array', items: { type: 'string', constraints: { enum: 'words' } }, default: ['x'] }
  for (const field of [{ type: 'string', default: 'x', constraints: { enum: 'words' } }, array]) {
    const [finding] = findingsIn(field)
    assert.equal(finding?.at, '/schema/fields/made/default')
    assert.match(finding.msg, /must be one of the values of the enum words; change the default/)
  }
})
