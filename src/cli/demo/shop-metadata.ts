/** The metadata of the demo: a music shop with eight entities. */
import type { Json, JsonObject } from '../../base/json/json.ts'

const STAFF = ['clerk', 'manager']

/** Everybody reads, staff writes. */
const PUBLIC: JsonObject = { find: ['anyone'], insert: STAFF, update: STAFF, delete: ['manager'] }

export const SHOP: readonly JsonObject[] = [
  entity('genre', { access: PUBLIC, fields: { name: required('string') } }),
  entity('artist', {
    access: PUBLIC,
    indexes: [index('name')],
    fields: {
      name: required('string'),
      country: { type: 'string' },
      albums: reference('album', 'artistId', '_id', { year: '$asc' }),
    },
  }),
  entity('album', {
    access: PUBLIC,
    indexes: [index('artistId'), index('year')],
    history: true,
    fields: {
      title: required('string'),
      artistId: required('string'),
      genreId: { type: 'string' },
      year: { type: 'integer', constraints: { minimum: 1900 } },
      price: { type: 'bigdecimal' },
      formats: { type: 'array', items: { type: 'string' } },
      artist: reference('artist', '_id', 'artistId'),
      tracks: reference('track', 'albumId', '_id', { number: '$asc' }),
    },
  }),
  entity('track', {
    access: PUBLIC,
    indexes: [index('albumId')],
    fields: {
      albumId: required('string'),
      number: { type: 'integer' },
      title: required('string'),
      seconds: { type: 'integer' },
    },
  }),
  entity('employee', {
    access: { find: STAFF, insert: ['manager'], update: ['manager'], delete: ['manager'] },
    fields: {
      name: required('string'),
      city: { type: 'string' },
      salary: { type: 'bigdecimal', access: { find: ['manager'], insert: ['manager'], update: ['manager'] } },
    },
  }),
  // a customer sees only their own record: its _id is the name of the caller
  entity('customer', {
    access: {
      find: [...STAFF, { role: 'customer', where: { field: '_id', op: '=', rvalue: '$caller.principal' } }],
      insert: STAFF,
      update: STAFF,
      delete: ['manager'],
    },
    indexes: [index('city')],
    fields: {
      name: required('string'),
      city: { type: 'string' },
      email: { type: 'string', access: { find: STAFF } },
      orders: reference('order', 'customerId', '_id', { date: '$desc' }),
    },
  }),
  entity('order', {
    access: {
      find: [
        ...STAFF,
        { role: 'customer', where: { field: 'customerId', op: '=', rvalue: '$caller.principal' } },
      ],
      insert: STAFF,
      update: STAFF,
      delete: ['manager'],
    },
    indexes: [index('customerId'), index('date')],
    enums: [{ name: 'states', values: ['open', 'paid', 'sent'] }],
    hooks: [
      {
        name: 'state',
        actions: ['insert', 'update'],
        configuration: {
          watchProjection: [{ field: 'state' }],
          includeProjection: [{ field: 'customerId' }],
        },
      },
    ],
    history: true,
    fields: {
      customerId: required('string'),
      date: required('date'),
      state: { type: 'string', constraints: { enum: 'states' } },
      total: { type: 'bigdecimal' },
      lines: {
        type: 'array',
        items: {
          type: 'object',
          fields: {
            albumId: { type: 'string' },
            quantity: { type: 'integer' },
            price: { type: 'bigdecimal' },
          },
        },
      },
      customer: reference('customer', '_id', 'customerId'),
    },
  }),
  entity('review', {
    access: PUBLIC,
    indexes: [index('albumId')],
    fields: {
      albumId: required('string'),
      stars: { type: 'integer', constraints: { minimum: 1, maximum: 5 } },
      text: { type: 'string' },
      date: { type: 'date' },
    },
  }),
]

interface Definition {
  readonly access: JsonObject
  readonly fields: JsonObject
  readonly indexes?: readonly Json[]
  readonly enums?: readonly Json[]
  readonly hooks?: readonly Json[]
  readonly history?: boolean
}

function entity(name: string, { access, fields, ...info }: Definition): JsonObject {
  return {
    entityInfo: { name, defaultVersion: '1.0.0', ...info },
    schema: {
      name,
      version: { value: '1.0.0', changelog: 'demo' },
      status: { value: 'active' },
      access,
      fields: { _id: { type: 'string', constraints: { identity: true } }, ...fields },
    },
  }
}

function required(type: string): JsonObject {
  return { type, constraints: { required: true } }
}

function index(field: string): JsonObject {
  return { name: field, fields: [{ field }] }
}

function reference(entity: string, field: string, own: string, sort?: JsonObject): JsonObject {
  const query = { field, op: '=', rfield: `$parent.${own}` }
  return { type: 'reference', entity, query, ...(sort && { sort }) }
}
