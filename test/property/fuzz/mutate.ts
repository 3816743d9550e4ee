/** Spoils sound requests: their structure, values, keys, bytes, paths and headers. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { isArray, isObject } from '../../../src/base/json/json.ts'
import type { Chance } from '../../support/seeded.ts'
import type { Request } from './requests.ts'

export interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer
}

export function mutated(request: Request, chance: Chance): Sent {
  let { method, path, headers, body } = request
  let text: string | undefined
  let bytes: Buffer | undefined
  for (let rounds = 1 + chance(3); rounds > 0; rounds--) {
    switch (chance(12)) {
      case 0:
        path = mutatedPath(path, chance)
        break
      case 1:
        headers = { ...headers, ...pick(HEADERS, chance) }
        break
      case 2:
        if (chance(4) === 0)
          method = pick(['GET', 'PUT', 'POST', 'DELETE', 'HEAD', 'PATCH', 'OPTIONS'], chance)
        else path = mutatedPath(path, chance)
        break
      case 3:
        if (body !== undefined) text = spoiledText(text ?? print(body), chance)
        break
      case 4:
        if (body !== undefined && chance(3) === 0)
          bytes = spoiledBytes(Buffer.from(text ?? print(body)), chance)
        break
      default:
        if (body === undefined) path = mutatedPath(path, chance)
        else body = mutatedJson(body, chance)
    }
  }
  const payload = bytes ?? (body === undefined ? undefined : Buffer.from(text ?? print(body)))
  return { method, path, headers, ...(payload && { body: payload }) }
}

/** Changes one place of a value, found by walking down at random. */
function mutatedJson(value: Json, chance: Chance): Json {
  if (isArray(value) && value.length > 0 && chance(5) > 0) {
    const i = chance(value.length)
    switch (chance(10)) {
      case 0:
        return value.toSpliced(i, 1)
      case 1:
        return value.toSpliced(i, 0, pick(VALUES, chance))
      case 2:
        return [...value, ...value]
      default:
        return value.with(i, mutatedJson(value[i]!, chance))
    }
  }
  if (isObject(value) && Object.keys(value).length > 0 && chance(6) > 0) {
    const entries = Object.entries(value)
    const i = chance(entries.length)
    const [key, each] = entries[i]!
    switch (chance(12)) {
      case 0:
        return object(entries.toSpliced(i, 1))
      case 1:
        return object(entries.with(i, [pick(KEYS, chance), each]))
      case 2:
        return object([...entries, [pick(KEYS, chance), pick(VALUES, chance)]])
      case 3:
        return object(entries.with(i, [key, entries[chance(entries.length)]![1]]))
      default:
        return object(entries.with(i, [key, mutatedJson(each, chance)]))
    }
  }
  return chance(8) === 0 ? nested(value, chance(6)) : pick(VALUES, chance)
}

/** Keys such as `__proto__` must become members, not prototypes. */
function object(entries: readonly (readonly [string, Json])[]): JsonObject {
  return Object.fromEntries(entries)
}

function nested(value: Json, depth: number): Json {
  return depth === 0 ? value : nested(depth % 2 === 0 ? [value] : { $not: value }, depth - 1)
}

function print(value: Json): string {
  return JSON.stringify(value)
}

function spoiledText(text: string, chance: Chance): string {
  const at = chance(text.length + 1)
  switch (chance(5)) {
    case 0:
      return text.slice(0, at)
    case 1:
      return text.slice(0, at) + pick(SNIPPETS, chance) + text.slice(at)
    case 2:
      return text.slice(0, at) + text.slice(at + 1 + chance(4))
    case 3:
      return text.replace(/\d+/, pick(NUMBERS, chance))
    default:
      return text.replaceAll(/"[^"]*"/g, (found) => (chance(12) === 0 ? pick(SNIPPETS, chance) : found))
  }
}

function spoiledBytes(bytes: Buffer, chance: Chance): Buffer {
  const copy = Buffer.from(bytes)
  for (let n = 1 + chance(3); n > 0 && copy.length > 0; n--) copy[chance(copy.length)] = chance(256)
  return copy
}

/** Everything stays printable ASCII: other bytes never leave node's client. */
function mutatedPath(path: string, chance: Chance): string {
  const [address = '', search] = path.split('?')
  const steps = address.split('/')
  const i = 1 + chance(Math.max(steps.length - 1, 1))
  switch (chance(8)) {
    case 0:
      return withSearch(steps.toSpliced(i, 1).join('/') || '/', search)
    case 1:
      return withSearch(steps.toSpliced(i, 0, pick(SEGMENTS, chance)).join('/'), search)
    case 2:
    case 3:
      return withSearch(
        steps.with(Math.min(i, steps.length - 1), pick(SEGMENTS, chance)).join('/') || '/',
        search,
      )
    case 4:
      return withSearch(address, `${search ?? ''}&${pick(PARAMETERS, chance)}`)
    case 5:
      return withSearch(address, pick(PARAMETERS, chance))
    case 6:
      return withSearch(
        address,
        search?.replace(/[:,;=]/, pick([':', ';', ',', '%3B', '\\', '%00', '%'], chance)),
      )
    default:
      return withSearch(`${address}/`, search)
  }
}

function withSearch(address: string, search: string | undefined): string {
  const path = address.startsWith('/') ? address : `/${address}`
  return search === undefined ? path : `${path}?${search}`
}

function pick<T>(from: readonly T[], chance: Chance): T {
  return from[chance(from.length)]!
}

const deep = (depth: number): Json => (depth === 0 ? 1 : [deep(depth - 1)])

const NUMBERS = ['1e400', '-0', '1'.repeat(400), '0.1e-400', '9223372036854775808', '1.10', '01', '-', '1e5']

const VALUES: readonly Json[] = [
  null,
  true,
  false,
  0,
  -1,
  1,
  1.5,
  2 ** 53,
  1e300,
  JSON.rawJSON('-0'),
  JSON.rawJSON('1e400'),
  JSON.rawJSON('1e-400'),
  JSON.rawJSON('9223372036854775807'),
  JSON.rawJSON('9223372036854775808'),
  JSON.rawJSON('123456789012345678901234567890.12345678901234567890'),
  '',
  ' ',
  '*',
  '.',
  '..',
  '$this',
  '$parent',
  '$parent.$parent',
  '$all',
  '-1',
  '0',
  'a.b',
  'places',
  'places.*',
  'places.*.name',
  'places.0.height',
  'places.-1.name',
  'places.99999999999999999999',
  'neighbours.*',
  'neighbours#',
  'name',
  'population',
  'salary',
  '_id',
  'objectType',
  '__proto__',
  'constructor',
  'constructor.prototype',
  'toString',
  "'; drop table documents; --",
  '"\\',
  '\u0000',
  '\ud800',
  '\u{1f600}',
  '\u2028',
  '(a+)+$',
  '(((((a*)*)*)*)*)*b',
  'switz* -"la suisse" ',
  '-',
  '"a',
  '"a b"* -c*',
  '東京-都 🎉*',
  '[',
  '\\1',
  '(?=x)',
  '20240102T03:04:05.678+0000',
  '=',
  '$eq',
  '$in',
  '$asc',
  'x'.repeat(1_001),
  [],
  {},
  [null],
  [[]],
  [{}],
  { a: 1 },
  { $valueof: 'name' },
  { $valueof: 'nothing' },
  { field: 'name', op: '=', rvalue: null },
  { field: 'places', op: '=', rvalue: 1 },
  { $and: [] },
  { text: 'switz* -"x y"', index: 'words' },
  { text: '-italy' },
  { text: '!' },
  { $score: '$desc' },
  { name: 'w', kind: 'text', language: 'turkish', fields: [{ field: 'name', weight: 7 }] },
  { $not: { $or: [] } },
  { size: 1 },
  { size: 2, after: 'AAAA' },
  { size: 1, after: `Ag${'A'.repeat(100)}`, count: true },
  'text("x") or $$parent.name != now()',
  { array: 'places', elemMatch: { field: '$parent.$parent.name', op: '=', rvalue: 'x' } },
  { $set: { 'places.5000.name': 'x' } },
  { $set: { 'places.999999999.name': 'x' } },
  { $set: { _id: 'x' } },
  { $append: { places: {} } },
  { $insert: { 'places.-9': { name: 'x' } } },
  { $foreach: { places: '$all', $update: '$remove' } },
  { $foreach: { places: '$all', $update: { $set: { $this: { name: 'x' } } } } },
  { $unset: '_id' },
  { field: '*', recursive: true },
  { field: 'places', range: [-1, null], projection: { field: '*' } },
  { type: 'string' },
  { type: 'array', items: { type: 'array', items: { type: 'string' } } },
  { type: 'reference', entity: 'spare' },
  ['a', 'a'],
  [0, 1],
  [5, 1],
  deep(50),
  deep(70),
]

const KEYS = [
  '',
  ' ',
  '$',
  '$and',
  '$or',
  '$not',
  '$set',
  '$unset',
  '$add',
  '$foreach',
  'field',
  'op',
  'rvalue',
  'rfield',
  'values',
  'regex',
  'text',
  'index',
  'language',
  'weight',
  '$score',
  'array',
  'contains',
  'elemMatch',
  'match',
  'range',
  'page',
  'size',
  'after',
  'count',
  'filter',
  'asOf',
  'from',
  'to',
  'data',
  'query',
  'projection',
  'sort',
  'update',
  'upsert',
  'execution',
  'entity',
  'entityVersion',
  'objectType',
  'version',
  'requests',
  'seq',
  'request',
  'atomic',
  'name',
  'population',
  'places',
  'places.0',
  'places.*.name',
  'neighbours#',
  '_id',
  'type',
  'items',
  'fields',
  'access',
  'constraints',
  'indexes',
  'hooks',
  'enums',
  'datastore',
  'defaultVersion',
  'status',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'a.b',
  '*',
  '0',
  '-1',
  'a"b',
  "a'b",
  'a\\b',
  'a\u0000b',
  '\ud800',
  'ä',
  'unknown',
]

const SNIPPETS = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\',
  '\\u0000',
  '\\ud800',
  'null',
  '"__proto__":1,',
  '{"__proto__":{}}',
  '{"a":1,"a":2}',
  '1e400',
  '-0',
  '\n',
  '\u0000',
  'NaN',
  '//',
  '[]'.repeat(3),
  '['.repeat(100),
]

const SEGMENTS = [
  '',
  '.',
  '..',
  '%00',
  '%2F',
  '%2f..%2f',
  '%',
  '%ff',
  '%C0%80',
  '*',
  'country',
  'staff',
  'nothing',
  'draft',
  'spare',
  'default',
  'roles',
  'dependencies',
  'health',
  '1.0.0',
  '9.9.9',
  'schema=1.0.0',
  's=active',
  'active',
  'disabled',
  'diff',
  'bulk',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  '%22',
  '%27%3B--',
  '%F0%9F%98%80',
  'x'.repeat(2_000),
  'rest',
  'data',
  'metadata',
  'find',
]

const PARAMETERS = [
  'Q=name:x',
  'Q=name',
  'Q=:',
  'Q=;',
  'Q=,',
  'Q=__proto__:1',
  'Q=constructor:1',
  'Q=places.*.height:1',
  'Q=population:1e400',
  'Q=name:%00',
  'Q=%ff:%ff',
  'Q=%',
  'P=*:1r',
  'P=__proto__:1',
  'P=name',
  'P=places.0:1',
  'S=name:a',
  'S=places:d',
  'S=__proto__:a',
  'from=-1',
  'to=99999999999999999999',
  'maxResults=0',
  'maxResults=-5',
  'n=0',
  'n=-1',
  'n=1e9',
  'n=10000',
  '__proto__=1',
  'constructor=1',
  'stream=true',
  '&&&==',
  'Q=a:1&Q=b:2',
  'filter=',
  'filter=%28',
  'filter=name%20%3D%20%22x%22',
  'filter=%24%24parent.name%20%3D%20now%28%29',
  'filter=text%28%22-a%20b%2A%22%29',
  'filter=name%20~%20%2F%28a%2B%29%2B%24%2F&Q=name:x',
  'filter=%00',
  `filter=${'%28'.repeat(200)}`,
  'sort=-$score,name',
  'sort=,-',
  'fields=places.0.name,,salary',
  'fields=$parent.name,nothing',
  'size=0',
  'size=-1',
  'size=2',
  'size=10001',
  'size=1e1',
  'size=1&size=2',
  'after=',
  'after=AAAA',
  'after=%00',
  `after=Ag${'A'.repeat(200)}`,
  `after=${'A'.repeat(5_000)}`,
  'after=AAAA&from=1',
  'count=true',
  'count=x',
  'asOf=2020-01-01T00:00:00Z',
  'asOf=1:1',
  'numbers=text',
  'ticket=',
  'ticket=x',
  'ticket=t1.',
  'ticket=t1.AAAA',
  `ticket=t1.${'A'.repeat(300)}`,
  'ticket=%ff',
  'comment=%00',
]

const HEADERS: readonly Readonly<Record<string, string>>[] = [
  { 'Content-Type': 'text/plain' },
  { 'Content-Type': 'application/json; charset=latin1' },
  { 'Content-Type': 'application/json;;;' },
  { 'Content-Type': '' },
  { 'Content-Encoding': 'gzip' },
  { Host: 'example.com' },
  { Host: 'localhost:99999' },
  { Host: '' },
  { Origin: 'http://example.com' },
  { Origin: 'null' },
  { Origin: 'http://localhost:1' },
  { 'Sec-Fetch-Site': 'cross-site' },
  { 'Smalt-Roles': '' },
  { 'Smalt-Roles': '__proto__, constructor' },
  { 'Smalt-Roles': ',,,' },
  { 'Smalt-Roles': 'hr' },
  { 'Smalt-Roles': 'x'.repeat(8_000) },
  { 'Smalt-Principal': '\u00ff' },
  { 'Smalt-Claims': '{"regions":["north"]}' },
  { 'Smalt-Claims': '{"__proto__":[' },
  { 'X-Request-Id': 'a b' },
  { 'X-Request-Id': '__proto__' },
  { Accept: 'application/x-ndjson' },
  { Accept: 'text/html' },
  { Expect: '200-ok' },
  { 'X-HTTP-Method-Override': 'DELETE' },
  { Authorization: 'Bearer x' },
]
