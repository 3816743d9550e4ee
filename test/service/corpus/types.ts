/** What a version makes of values that another version wrote, as a table: each value is stored by the version that has its type. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'

const array = (type: string): JsonObject => ({ type: 'array', items: { type } })
const object = (fields: JsonObject): JsonObject => ({ type: 'object', fields })

/** Version 1.0.0, and what 2.0.0 makes of the same names. */
export const OLD: JsonObject = {
  n: { type: 'integer' },
  n2: { type: 'integer' },
  t: { type: 'string' },
  b: { type: 'boolean' },
  i: { type: 'integer' },
  d: { type: 'integer' },
  o: object({ x: { type: 'integer' } }),
  l: array('integer'),
  e: { type: 'array', items: object({ x: { type: 'string' } }) },
  s: { type: 'string' },
  f: { type: 'any' },
  g: array('any'),
}
export const NEW: JsonObject = {
  n: { type: 'string' },
  n2: { type: 'string' },
  t: { type: 'date' },
  b: { type: 'string' },
  i: { type: 'bigdecimal' },
  d: { type: 'double' },
  o: { type: 'string' },
  l: array('string'),
  e: array('string'),
  s: array('string'),
  f: object({ x: { type: 'integer' } }),
  g: { type: 'array', items: object({ y: object({ ' 0': { type: 'any' } }) }) },
}

export interface TypesCase {
  readonly rule: string
  /** As 1.0.0 and as 2.0.0 store them; they are numbered on from the first to the last. */
  readonly old: readonly string[]
  readonly new: readonly string[]
  readonly version: '1.0.0' | '2.0.0'
  readonly query?: Json
  readonly sort?: Json
  /** The numbers of the documents found, in order. */
  readonly found: readonly number[]
}

const is = (field: string, op: string, rvalue: Json): JsonObject => ({ field, op, rvalue })

export const TYPES_CASES: readonly TypesCase[] = [
  {
    rule: 'a text is no number that looks like it',
    old: ['{"n":5}'],
    new: ['{"n":"5"}'],
    version: '1.0.0',
    query: is('n', '=', 5),
    found: [0],
  },
  {
    rule: 'a number is no text that looks like it',
    old: ['{"n":5}'],
    new: ['{"n":"5"}'],
    version: '2.0.0',
    query: is('n', '=', '5'),
    found: [1],
  },
  {
    rule: 'what does not fit is neither less nor greater',
    old: ['{"n":5}', '{}'],
    new: ['{"n":""}', '{"n":"abc"}'],
    version: '1.0.0',
    query: { $or: [is('n', '<', 0), is('n', '>=', 0)] },
    found: [0],
  },
  {
    rule: 'what does not fit counts as missing',
    old: ['{"n":5}', '{}'],
    new: ['{"n":"5"}'],
    version: '2.0.0',
    query: is('n', '=', null),
    found: [0, 1],
  },
  {
    rule: 'what does not fit is not equal',
    old: ['{"n":5}'],
    new: ['{"n":"5"}'],
    version: '2.0.0',
    query: is('n', '!=', '5'),
    found: [0],
  },
  {
    rule: 'what does not fit sorts as null',
    old: ['{"n":7}', '{"n":5}'],
    new: ['{"n":"6"}', '{"n":"1"}'],
    version: '2.0.0',
    sort: { n: '$desc' },
    found: [2, 3, 0, 1],
  },
  {
    rule: '$in finds values that fit, and null those that do not',
    old: ['{"n":5}', '{"n":6}'],
    new: ['{"n":"5"}'],
    version: '1.0.0',
    query: { field: 'n', op: '$in', values: [5, null] },
    found: [0, 2],
  },
  {
    rule: '$nin is exactly not $in',
    old: ['{"n":5}'],
    new: ['{"n":"5"}', '{"n":"6"}'],
    version: '2.0.0',
    query: { field: 'n', op: '$nin', values: ['5'] },
    found: [0, 2],
  },
  {
    rule: 'a truth value is no text',
    old: ['{"b":true}'],
    new: ['{"b":"true"}'],
    version: '2.0.0',
    query: is('b', '=', 'true'),
    found: [1],
  },
  {
    rule: 'a text is no truth value',
    old: ['{"b":true}'],
    new: ['{"b":"true"}'],
    version: '1.0.0',
    query: is('b', '=', true),
    found: [0],
  },
  {
    rule: 'a pattern matches texts only',
    old: ['{"n":5}', '{"b":true}'],
    new: ['{"n":"5"}'],
    version: '2.0.0',
    query: { field: 'n', regex: '.' },
    found: [2],
  },
  {
    rule: 'numbers of two types compare digit for digit',
    old: ['{"i":9007199254740993}'],
    new: ['{"i":9007199254740992.9}', '{"i":9007199254740993.0}', '{"i":9007199254740993.1}'],
    version: '1.0.0',
    query: { $or: [is('i', '=', '9007199254740993'), is('i', '>', '9007199254740993')] },
    found: [0, 2, 3],
  },
  {
    rule: 'integers and doubles compare digit for digit',
    old: ['{"d":4611686018427387904}', '{"d":4611686018427388000}'],
    new: ['{"d":4611686018427387904}', '{"d":0.1}'],
    version: '1.0.0',
    query: is('d', '=', '4611686018427387904'),
    found: [0],
  },
  {
    rule: 'a double is found by the digits with which it is shown',
    old: ['{"d":4611686018427387904}', '{"d":4611686018427388000}'],
    new: ['{"d":4611686018427387904}', '{"d":0.1}'],
    version: '2.0.0',
    query: is('d', '=', '4611686018427387904'),
    found: [1, 2],
  },
  {
    rule: 'integers and doubles sort digit for digit',
    old: ['{"d":-9223372036854775808}', '{"d":9007199254740993}', '{"d":4611686018427387904}'],
    new: ['{"d":-9223372036854775808}', '{"d":9007199254740992}', '{"d":4611686018427387904}', '{"d":0.1}'],
    version: '1.0.0',
    sort: { d: '$asc' },
    found: [3, 0, 6, 4, 1, 2, 5],
  },
  {
    rule: 'texts of two types compare as texts',
    old: ['{"t":"20240102T03:04:05.678+0000"}', '{"t":"abc"}'],
    new: ['{"t":"20240102T03:04:05.678+0000"}'],
    version: '2.0.0',
    query: is('t', '>=', '20240102T03:04:05.678+0000'),
    found: [0, 1, 2],
  },
  {
    rule: 'two fields that do not fit are both missing',
    old: ['{"n":5,"n2":6}', '{"n":5}'],
    new: ['{"n":"a","n2":"a"}', '{"n":"a","n2":"b"}'],
    version: '2.0.0',
    query: { field: 'n', op: '=', rfield: 'n2' },
    found: [0, 1, 2],
  },
  {
    rule: 'an object is no text',
    old: ['{"o":{"x":1}}'],
    new: ['{"o":"{\\"x\\":1}"}'],
    version: '2.0.0',
    query: is('o', '=', '{"x":1}'),
    found: [1],
  },
  {
    rule: 'a text where an object should be is missing, and has no members',
    old: ['{"o":{"x":1}}', '{"o":{}}'],
    new: ['{"o":"abc"}'],
    version: '1.0.0',
    query: { $or: [is('o', '=', null), is('o.x', '=', null)] },
    found: [1, 2],
  },
  {
    rule: 'elements that do not fit count as null',
    old: ['{"l":[1,5]}'],
    new: ['{"l":["5"]}', '{"l":[]}'],
    version: '1.0.0',
    query: is('l.*', '=', null),
    found: [1],
  },
  {
    rule: 'contains finds elements that fit',
    old: ['{"l":[1,5]}'],
    new: ['{"l":["5","1"]}'],
    version: '2.0.0',
    query: { array: 'l', contains: '$all', values: ['1', '5'] },
    found: [1],
  },
  {
    rule: 'an array sorts by its least element that fits, null being the least',
    old: ['{"l":[9]}', '{"l":[1]}'],
    new: ['{"l":["5"]}'],
    version: '1.0.0',
    sort: { 'l.*': '$asc' },
    found: [2, 1, 0],
  },
  {
    rule: 'elements that are objects here and texts there have no members there',
    old: ['{"e":[{"x":"a"}]}'],
    new: ['{"e":["a"]}'],
    version: '1.0.0',
    query: { array: 'e', elemMatch: is('x', '=', 'a') },
    found: [0],
  },
  {
    rule: 'a text where an array should be has no elements',
    old: ['{"s":"a"}'],
    new: ['{"s":["a"]}', '{}'],
    version: '2.0.0',
    query: { array: 's', contains: '$any', values: ['a', null] },
    found: [1],
  },
  {
    rule: 'a text where an array should be is one missing element',
    old: ['{"s":"a"}'],
    new: ['{"s":["a"]}', '{}'],
    version: '2.0.0',
    query: is('s.*', '=', null),
    found: [0, 2],
  },
  {
    rule: 'members below any may be anything',
    old: ['{"f":{"x":"5"}}', '{"f":5}', '{"f":[{"x":5}]}', '{"f":{"x":5}}'],
    new: ['{"f":{"x":5}}'],
    version: '2.0.0',
    query: is('f.x', '=', 5),
    found: [3, 4],
  },
  {
    rule: 'a name that looks like a number is none, also where an array stands',
    old: ['{"g":[{"y":[1]}]}', '{"g":[{"y":{" 0":1}}]}'],
    new: ['{"g":[{"y":{" 0":1}}]}'],
    version: '2.0.0',
    query: is('g.0.y. 0', '!=', null),
    found: [1, 2],
  },
]
