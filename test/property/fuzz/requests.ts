/** Sound requests of every route: what the fuzz test sets out from. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { metadataDocument } from '../../support/service.ts'
import { COUNTRY, countryInfo, EVERYTHING } from '../../service/seed/fixture.ts'

export interface Request {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Json
}

export const ROLES = { 'Smalt-Roles': 'hr, boss, admin' }

/** What a request may repeat of an earlier answer. */
export interface Issued {
  /** The `next` of a page of `PAGED`. */
  readonly cursor: string
  /** The `next` of a page of `/documents/country?${PAGED_LIST}`. */
  readonly listCursor: string
  /** For `/documents/country`. */
  readonly ticket: string
}

export const PAGED = { projection: EVERYTHING, sort: [{ population: '$desc' }, { name: '$asc' }] }
export const PAGED_LIST = 'sort=-population&size=1'

/** With what an answer issued, as clients send it back. */
export function requestsWith(issued: Issued): readonly Request[] {
  const { cursor, listCursor, ticket } = issued
  const simple = '/data/find/country?S=population:d,name:a'
  return [
    ...REQUESTS,
    ...data('POST', 'find', [{ ...PAGED, page: { size: 1, after: cursor, count: true } }]),
    ...data('POST', 'explain', [{ ...PAGED, page: { size: 2, after: cursor } }]),
    ...[
      `${simple}&P=*:1r&size=1&after=${cursor}`,
      `${simple}&size=2&after=${cursor}&count=true`,
      `/documents/country?${PAGED_LIST}&after=${listCursor}`,
    ].map((path): Request => ({ method: 'GET', path, headers: ROLES })),
    // the ticket stands for the roles
    { method: 'GET', path: `/documents/country?${PAGED_LIST}&ticket=${ticket}`, headers: {} },
    {
      method: 'GET',
      path: `/documents/country?ticket=${ticket}&after=${listCursor}&sort=-population`,
      headers: {},
    },
  ]
}

export const REQUESTS: readonly Request[] = [
  ...data('POST', 'find', [
    { query: { field: 'iso2Code', op: '=', rvalue: 'CH' }, projection: EVERYTHING },
    {
      query: {
        $or: [
          { field: 'population', op: '>=', rvalue: 10 },
          { $not: { field: 'name', regex: '^Sw.*d$', options: 'i' } },
          { array: 'neighbours', contains: '$any', values: ['FR', 'IT'] },
          { array: 'places', elemMatch: { field: 'height', op: '<', rvalue: 100 } },
          { field: 'iso2Code', op: '$in', values: ['CH', 'FR', null] },
          { field: 'places.0.name', op: '!=', rfield: 'name' },
        ],
      },
      projection: [
        { field: 'places', range: [0, 1], projection: { field: 'name' }, sort: { height: '$desc' } },
        { field: 'places', match: { field: 'height', op: '>', rvalue: 1 } },
        { field: 'name', include: true },
      ],
      sort: [{ name: '$asc' }, { population: '$desc' }],
      range: [0, 10],
    },
    {
      filter:
        'name ~ /^S.*d$/i and (population > 5 or any places (height <= $$parent.population)) and iso2Code not in ("FR", null)',
      projection: EVERYTHING,
    },
    {
      query: { $or: [{ text: 'switz* -"la suisse" roma', index: 'words' }, { text: 'france' }] },
      projection: EVERYTHING,
      sort: [{ $score: '$desc' }, { name: '$asc' }],
      range: [0, 2],
    },
    {
      filter: 'text("bern -rom*", "words") or not text("\\"italy\\"*") and population > 5',
      projection: EVERYTHING,
      sort: { $score: '$desc' },
      page: { size: 2 },
    },
    { projection: { field: '*' }, from: 0, maxResults: 3, execution: { count: 'none', maxTimeMs: 1_000 } },
  ]),
  ...data('POST', 'explain', [
    { query: { $and: [{ field: 'name', op: '$eq', rvalue: 'x' }] }, projection: [EVERYTHING] },
    { query: { text: 'swi* "roma"' }, projection: EVERYTHING, sort: { $score: '$asc' } },
  ]),
  ...data('POST', 'aggregate', [
    {
      query: { field: 'population', op: '>=', rvalue: 10 },
      groupBy: ['name', { field: 'iso2Code', as: 'code' }],
      values: {
        n: { $count: true },
        s: { $sum: 'population' },
        m: { $avg: 'population' },
        first: { $min: 'name' },
        last: { $max: 'places.*.height' },
        different: { $distinct: 'places.*.name' },
      },
      having: {
        $and: [
          { field: 'n', op: '>', rvalue: 0 },
          { field: 's', op: '!=', rfield: 'm' },
        ],
      },
      sort: [{ s: '$desc' }, { code: '$asc' }],
      range: [0, 5],
    },
    { groupBy: ['neighbours.*'], execution: { maxTimeMs: 1_000 } },
    { values: { n: { $count: true } } },
  ]),
  ...data('POST', 'explain', [
    { groupBy: ['name'], values: { n: { $count: true } }, having: { field: 'n', op: '>', rvalue: 1 } },
  ]),
  ...data('PUT', 'insert', [
    { data: [{ iso2Code: 'XX', name: 'new', population: 5, places: [{ name: 'p', height: 1 }] }] },
    {
      data: { iso2Code: 'YY', neighbours: ['a', null] },
      projection: EVERYTHING,
      execution: { atomic: true },
    },
  ]),
  ...data('POST', 'save', [
    { data: [{ _id: '1', iso2Code: 'CH', name: 'saved' }], upsert: true, projection: EVERYTHING },
    { data: { _id: '2', iso2Code: 'FR' }, onlyIfCurrent: true, documentVersions: ['2:1'] },
  ]),
  ...data('POST', 'update', [
    {
      query: { field: '_id', op: '=', rvalue: '3' },
      update: [
        { $set: { name: 'set', population: { $valueof: 'population' } } },
        { $append: { neighbours: ['ZZ', {}] } },
        { $insert: { 'places.0': { name: 'first' } } },
        {
          $foreach: { places: { field: 'height', op: '>', rvalue: 1 }, $update: { $set: { name: 'each' } } },
        },
        { $unset: ['places.-1', 'neighbours.0'] },
        { $add: { population: 1 } },
      ],
      projection: EVERYTHING,
    },
  ]),
  ...[
    ['POST', '', { iso2Code: 'XX', name: 'new', population: 5, places: [{ name: 'p', height: 1 }] }],
    ['PUT', '/4?upsert=true&numbers=text', { iso2Code: 'YY', name: 'put' }],
    ['PATCH', '/3', { name: null, places: [{ name: 'patched' }], population: 7 }],
  ].map(([method, tail, body]): Request => ({
    method: method as string,
    path: `/documents/country${tail as string}`,
    headers: { ...ROLES, 'If-Match': '*' },
    body: body as Json,
  })),
  { method: 'POST', path: '/auth/ticket', headers: ROLES, body: { path: '/documents/country' } },
  {
    method: 'DELETE',
    path: '/documents/country/2?version=1.0.0',
    headers: { ...ROLES, 'If-Match': '"2:1"' },
  },
  ...data('POST', 'delete', [{ query: { field: 'iso2Code', op: '=', rvalue: 'XX' } }]),
  ...[
    '/data/find/country?Q=iso2Code:CH,FR;population:9&P=*:1r,name:0&S=name:a,_id:d&from=0&to=5&maxResults=2',
    '/data/explain/country/1.0.0?Q=name:x&P=name:1',
    `/data/find/country?filter=${encodeURIComponent('neighbours contains any ("FR") or not name = "x"')}&P=name:1`,
    `/documents/country?filter=${encodeURIComponent('population > 5')}&sort=-name&fields=name,places&size=2&count=true`,
    `/documents/country?filter=${encodeURIComponent('text("swi* -rome", "words")')}&sort=-$score&fields=name&size=1`,
    '/documents/country/1?fields=name&numbers=text',
    '/data/generate/staff/badge?n=2',
    '/data/generate/staff/1.0.0/tags.*.code?n=3',
    '/metadata',
    '/metadata/s=active,deprecated',
    '/metadata/roles',
    '/metadata/staff/roles',
    '/metadata/staff/1.0.0/roles',
    '/metadata/dependencies',
    '/metadata/staff/dependencies',
    '/metadata/staff/1.0.0/dependencies',
    '/metadata/country',
    '/metadata/staff/history',
    '/metadata/country/default',
    '/metadata/country/1.0.0',
    '/metadata/country/1.0.0/diff/1.1.0',
    '/data/search/country?P=name:1',
    '/data/search/country/mine?x=1&from=0',
    '/data/lock/batch/me/report',
    '/health',
    '/ready',
    '/version',
    '/metrics',
    '/',
  ].map((path): Request => ({ method: 'GET', path, headers: ROLES })),
  {
    method: 'POST',
    path: '/data/search/country/1.0.0/mine?S=name:d',
    headers: ROLES,
    body: { x: 'CH', n: 5 },
  },
  {
    method: 'POST',
    path: '/data/lock',
    headers: ROLES,
    body: { operation: 'acquire', domain: 'batch', callerId: 'me', resourceId: 'report', ttl: 1_000 },
  },
  { method: 'PUT', path: '/data/lock/batch/me/report?ttl=5000', headers: ROLES },
  { method: 'PUT', path: '/data/lock/batch/me/report/ping', headers: ROLES },
  { method: 'DELETE', path: '/data/lock/batch/me/report', headers: ROLES },
  {
    method: 'PUT',
    path: '/data/insert/savedSearch',
    headers: ROLES,
    body: {
      data: {
        name: 'mine',
        entity: 'country',
        parameters: [
          { name: 'x', type: 'string' },
          { name: 'n', type: 'integer', optional: true, defaultValue: 1 },
        ],
        query: { field: 'iso2Code', op: '=', rvalue: '${x}' },
        projection: { field: '*' },
      },
    },
  },
  { method: 'POST', path: '/data/bulk', headers: ROLES, body: bulk() },
  { method: 'POST', path: '/rest/data/bulk', headers: ROLES, body: { ...bulk(), atomic: true } },
  { method: 'PUT', path: '/metadata/country', headers: ROLES, body: searchedInfo() },
  { method: 'PUT', path: '/metadata/spare/1.0.0', headers: ROLES, body: spare('1.0.0') },
  {
    method: 'PUT',
    path: '/metadata/spare/2.0.0-SNAPSHOT',
    headers: ROLES,
    body: spare('2.0.0-SNAPSHOT'),
  },
  {
    method: 'PUT',
    path: '/metadata/country/schema=1.1.0',
    headers: ROLES,
    body: metadataDocument(
      'country',
      { ...COUNTRY, capital: { type: 'string' } },
      { schema: { version: { value: '1.1.0', changelog: 'capital' } } },
    )['schema']!,
  },
  { method: 'PUT', path: '/metadata/spare/1.0.0/deprecated?comment=why', headers: ROLES },
  { method: 'POST', path: '/metadata/spare/1.0.0/default', headers: ROLES },
  { method: 'DELETE', path: '/metadata/spare/default', headers: ROLES },
  { method: 'DELETE', path: '/metadata/spare', headers: ROLES },
]

/** The entity info of the country, with an index for text search. */
export function searchedInfo(): JsonObject {
  const fields = [{ field: 'name', weight: 3 }, { field: 'neighbours' }, { field: 'places.*.name' }]
  const words = { name: 'words', kind: 'text', language: 'english', fields }
  const info = countryInfo()
  return { ...info, indexes: [...(info['indexes'] as readonly JsonObject[]), words] }
}

/** With everything that metadata knows, so that every parser of it gets to see mutations. */
export function spare(version: string): JsonObject {
  return metadataDocument(
    'spare',
    {
      key: { type: 'string', constraints: { identity: true, minLength: 1, matches: '[a-z]+' } },
      kind: { type: 'string', constraints: { enum: 'kinds' } },
      count: { type: 'integer', constraints: { minimum: 0, maximum: 100 } },
      exact: { type: 'bigdecimal' },
      when: { type: 'date', valueGenerator: { type: 'CurrentTime', overwrite: true } },
      number: {
        type: 'integer',
        valueGenerator: { type: 'IntSequence', configuration: { name: 's', initialValue: 1, increment: 2 } },
      },
      list: {
        type: 'array',
        constraints: { minItems: 0, maxItems: 9 },
        items: { type: 'object', fields: { id: { type: 'uid', constraints: { 'element-identity': true } } } },
      },
      box: { type: 'object', fields: { inner: { type: 'any' }, bytes: { type: 'binary' } } },
      other: {
        type: 'reference',
        entity: 'country',
        query: { field: 'iso2Code', op: '=', rfield: '$parent.key' },
        projection: { field: '*' },
      },
    },
    {
      info: {
        defaultVersion: version,
        enums: [{ name: 'kinds', values: ['a', 'b'] }],
        hooks: [
          {
            name: 'h',
            actions: ['insert', 'update', 'delete'],
            configuration: { watchProjection: [{ field: 'key' }], arrayOrderingSignificant: true },
          },
        ],
        indexes: [
          { name: 'keys', unique: true, fields: [{ field: 'key', dir: '$asc', caseInsensitive: true }] },
          {
            name: 'texts',
            kind: 'text',
            language: 'german',
            fields: [{ field: 'key', weight: 3 }, { field: 'kind' }],
          },
          { name: 'ids', unique: false, fields: [{ field: 'list.*.id', dir: '$desc' }] },
        ],
      },
      schema: {
        version: { value: version, changelog: 'x' },
        enums: [{ name: 'kinds', values: ['a', 'b'] }],
      },
    },
  )
}

function data(method: string, operation: string, bodies: readonly JsonObject[]): readonly Request[] {
  return bodies.flatMap((body): Request[] => [
    { method, path: `/data/${operation}/country`, headers: ROLES, body },
    {
      method,
      path: `/rest/data/${operation}/country/1.1.0`,
      headers: ROLES,
      body: { objectType: 'country', version: '1.1.0', ...body },
    },
  ])
}

function bulk(): JsonObject {
  const query = { field: 'iso2Code', op: '=', rvalue: 'CH' }
  const projection = [EVERYTHING]
  const target = { entity: 'country', entityVersion: '1.0.0' }
  return {
    requests: [
      { seq: 1, op: 'find', request: { ...target, query, projection, range: [0, 2] } },
      { seq: 2, op: 'INSERT', request: { ...target, data: [{ iso2Code: 'BU' }] } },
      { seq: 3, op: 'update', request: { ...target, query, update: { $set: { name: 'b' } } } },
      { seq: 4, op: 'generate', request: { entity: 'staff', field: 'badge', n: 1 } },
      { seq: 5, op: 'delete', request: { ...target, query: { ...query, rvalue: 'BU' } } },
      {
        seq: 8,
        op: 'aggregate',
        request: { ...target, query, groupBy: ['name'], values: { n: { $count: true } } },
      },
      { seq: 6, op: 'explain', request: { ...target, query, projection } },
      { seq: 7, op: 'save', request: { ...target, data: { _id: '1', iso2Code: 'CH' }, upsert: true } },
    ],
    ordered: true,
  }
}
