import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Code,
  DBRef,
  Decimal128,
  type Document,
  Double,
  EJSON,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  UUID,
  serialize,
} from 'bson'
import { isObject } from '../../../src/base/json/json.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { ValueError } from '../../../src/lightblue/source-error.ts'
import { bsonToJson, readBson } from '../../../src/lightblue/values/bson-document.ts'
import { extendedToJson } from '../../../src/lightblue/values/extended-json.ts'

const DEPTH = 64

function fromBson(document: Document): string {
  return JSON.stringify(bsonToJson(readBson(serialize(document)), DEPTH))
}

function fromExtended(text: string): string {
  const parsed = parseJson(text, DEPTH)
  assert.ok(isObject(parsed))
  return JSON.stringify(extendedToJson(parsed, DEPTH))
}

/** Every type that a field can hold, with its JSON text. */
const VALUES: readonly (readonly [name: string, value: unknown, json: string])[] = [
  ['a text', 'ü "x"', '"ü \\"x\\""'],
  ['an empty text', '', '""'],
  ['true', true, 'true'],
  ['null', null, 'null'],
  ['a 32-bit integer', new Int32(-7), '-7'],
  ['a small 64-bit integer', Long.fromNumber(5), '5'],
  ['the largest 64-bit integer', Long.MAX_VALUE, '9223372036854775807'],
  ['the smallest 64-bit integer', Long.MIN_VALUE, '-9223372036854775808'],
  ['a 64-bit integer beyond 2^53', Long.fromString('9007199254740993'), '9007199254740993'],
  ['a double', new Double(0.1), '0.1'],
  ['an integral double', new Double(5), '5'],
  ['a large double', new Double(1e300), '1e+300'],
  ['a decimal with its scale', Decimal128.fromString('1.10'), '1.10'],
  [
    'a decimal of 34 digits',
    Decimal128.fromString('1234567890.123456789012345678901234'),
    '1234567890.123456789012345678901234',
  ],
  ['a decimal with an exponent', Decimal128.fromString('1E+30'), '1E+30'],
  ['a date', new Date('2024-01-02T03:04:05.678Z'), '"20240102T03:04:05.678+0000"'],
  ['a date before 1970', new Date('1903-12-31T23:59:59.001Z'), '"19031231T23:59:59.001+0000"'],
  ['a date after 9000', new Date('9999-12-31T23:59:59.999Z'), '"99991231T23:59:59.999+0000"'],
  ['an ObjectId', new ObjectId('65a1b2c3d4e5f60718293a4b'), '"65a1b2c3d4e5f60718293a4b"'],
  ['bytes', new Binary(Buffer.from([0, 1, 250, 255])), '"AAH6/w=="'],
  ['no bytes', new Binary(Buffer.alloc(0)), '""'],
  ['a UUID', new UUID('00112233-4455-6677-8899-aabbccddeeff'), '"ABEiM0RVZneImaq7zN3u/w=="'],
  ['a symbol', new BSONSymbol('sign'), '"sign"'],
  ['a nested document', { a: { b: [new Int32(1), { c: null }] } }, '{"a":{"b":[1,{"c":null}]}}'],
  ['an array', ['a', null, [], {}], '["a",null,[],{}]'],
]

for (const [name, value, json] of VALUES) {
  const expected = `{"v":${json}}`
  test(`bson: ${name}`, () => assert.equal(fromBson({ v: value }), expected))
  for (const relaxed of [false, true]) {
    test(`extended JSON, ${relaxed ? 'relaxed' : 'canonical'}: ${name}`, () => {
      const text = EJSON.stringify({ v: value }, { relaxed })
      // the relaxed form of a large integer is a number, which `bson` itself prints without its last digits
      const digits = value instanceof Long && relaxed ? `{"v":${value.toString()}}` : text
      assert.equal(fromExtended(digits), expected)
    })
  }
}

/** Forms of old versions of mongoexport, and of people. */
const OLD_FORMS: readonly (readonly [text: string, json: string])[] = [
  ['{"$date":1704164645678}', '"20240102T03:04:05.678+0000"'],
  ['{"$date":"2024-01-02T03:04:05.678+0100"}', '"20240102T02:04:05.678+0000"'],
  ['{"$date":"2024-01-02T03:04:05Z"}', '"20240102T03:04:05.000+0000"'],
  ['{"$binary":"AAH6/w==","$type":"00"}', '"AAH6/w=="'],
  ['{"$uuid":"00112233-4455-6677-8899-aabbccddeeff"}', '"ABEiM0RVZneImaq7zN3u/w=="'],
  ['{"$undefined":true}', 'null'],
  ['{"$oid":"65A1B2C3D4E5F60718293A4B"}', '"65a1b2c3d4e5f60718293a4b"'],
  ['123456789012345678901234567890', '123456789012345678901234567890'],
  ['1.10', '1.10'],
]

for (const [text, json] of OLD_FORMS) {
  test(`extended JSON: ${text}`, () => assert.equal(fromExtended(`{"v":${text}}`), `{"v":${json}}`))
}

/** Types that no field has, and values that JSON lacks. */
const REFUSED: readonly (readonly [name: string, value: unknown])[] = [
  ['NaN', new Double(NaN)],
  ['infinity', new Double(-Infinity)],
  ['a decimal that is no number', Decimal128.fromString('NaN')],
  ['a timestamp', Timestamp.fromNumber(1)],
  ['a regular expression', new BSONRegExp('a', 'i')],
  ['code', new Code('x()')],
  ['code with scope', new Code('x()', { x: 1 })],
  ['a reference of the driver', new DBRef('c', new ObjectId())],
  ['the least key', new MinKey()],
  ['the greatest key', new MaxKey()],
  ['a date after 9999', new Date(253_402_300_800_000)],
  ['a date before the year 0', new Date(-62_198_755_200_001)],
]

for (const [name, value] of REFUSED) {
  const document = { a: [{ v: value }] }
  const isRefused = (error: unknown): boolean => error instanceof ValueError && error.path === 'a.0.v'
  test(`bson: ${name} is refused at its path`, () => assert.throws(() => fromBson(document), isRefused))
  test(`extended JSON: ${name} is refused at its path`, () =>
    assert.throws(() => fromExtended(EJSON.stringify(document, { relaxed: false })), isRefused))
}

const INVALID: readonly string[] = [
  '{"$oid":"65a1"}',
  '{"$numberLong":5}',
  '{"$numberLong":"5.5"}',
  '{"$date":"yesterday"}',
  '{"$date":{"$numberLong":"x"}}',
  '{"$binary":{"base64":"*","subType":"00"}}',
  '{"$unknown":1}',
  '{"$oid":"65a1b2c3d4e5f60718293a4b","more":1}',
]

for (const text of INVALID) {
  test(`extended JSON: ${text} is refused`, () =>
    assert.throws(() => fromExtended(`{"v":${text}}`), ValueError))
}

test('stored documents: what Lightblue hides is left out at every depth', () => {
  const hidden = { docver: [new ObjectId()], title: 'DUNE' }
  const document = { title: 'Dune', '@mongoHidden': hidden, parts: [{ name: 'a', '@mongoHidden': hidden }] }
  const expected = '{"title":"Dune","parts":[{"name":"a"}]}'
  assert.equal(fromBson(document), expected)
  assert.equal(fromExtended(EJSON.stringify(document, { relaxed: false })), expected)
})

test('stored documents: the rules for JSON hold for them as well', () => {
  assert.throws(() => fromBson({ v: 'a\0b' }), /NUL/)
  let deep: Document = {}
  for (let i = 0; i < DEPTH; i++) deep = { v: deep }
  assert.throws(() => fromBson(deep), /deeper than 64/)
  assert.throws(() => fromBson(JSON.parse('{"__proto__":{"a":1}}') as Document), /__proto__/)
})
