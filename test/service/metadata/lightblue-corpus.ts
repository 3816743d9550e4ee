/**
 * Metadata documents as Lightblue's users wrote them, one construct alone and several combined. They name no backend,
 * because a backend is a matter of configuration.
 */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'

export interface CorpusCase {
  readonly rule: string
  readonly documents: readonly JsonObject[]
  /** Codes of the warnings that the writes must have; doubts about access are not among them. */
  readonly warnings: readonly string[]
  /** Documents that can be inserted into the first entity afterwards. */
  readonly data?: readonly JsonObject[]
}

const ACCESS = { insert: ['anyone'], update: ['anyone'], find: ['anyone'], delete: ['anyone'] }

interface Parts {
  readonly info?: JsonObject
  readonly schema?: JsonObject
  readonly version?: string
}

function documentOf(
  name: string,
  fields: Json,
  { info = {}, schema = {}, version = '1.0.0' }: Parts = {},
): JsonObject {
  return {
    entityInfo: {
      name,
      defaultVersion: version,
      datastore: { datasource: 'default', collection: name },
      ...info,
    },
    schema: {
      name,
      version: { value: version, changelog: 'Initial' },
      status: { value: 'active' },
      access: ACCESS,
      fields: { _id: { type: 'string' }, objectType: { type: 'string' }, ...(fields as JsonObject) },
      ...schema,
    },
  }
}

const string = { type: 'string' }
const addresses: JsonObject = {
  type: 'array',
  items: {
    type: 'object',
    fields: {
      addressId: { type: 'string', constraints: { identity: 1 } },
      city: { type: 'string', constraints: [{ required: 0 }, { maxLength: 50 }] },
    },
  },
}
const auditHook = { name: 'auditHook', actions: ['insert', 'update', 'delete'], configuration: {} }
const publishHook: JsonObject = {
  name: 'publishHook',
  actions: ['insert', 'update'],
  configuration: {
    eventConfigurations: [
      {
        esbRootEntityName: 'Account',
        esbEventEntityName: 'Account',
        endSystem: 'WEB',
        headers: [{ name: 'a', value: 'b' }],
      },
    ],
  },
}
const notificationHook = {
  name: 'notificationHook',
  actions: ['insert', 'update'],
  configuration: {
    watchProjection: [{ field: 'login', recursive: 0 }],
    includeProjection: [],
    arrayOrderingSignificant: 0,
  },
}

export const CORPUS: readonly CorpusCase[] = [
  {
    rule: 'a plain document',
    documents: [documentOf('plain', { login: string })],
    warnings: [],
    data: [{ login: 'a' }],
  },
  {
    rule: '0 and 1 for booleans',
    documents: [
      documentOf(
        'flags',
        {
          login: { type: 'string', constraints: { identity: 1, required: 1 } },
          note: { type: 'string', constraints: { required: 0 } },
          version: { type: 'string', documentVersion: 1 },
          made: { type: 'string', valueGenerator: { type: 'UUID', overwrite: 0 } },
        },
        {
          info: {
            indexes: [
              { name: 'login', unique: 1, fields: [{ field: 'login', dir: '$asc', caseInsensitive: 0 }] },
            ],
          },
        },
      ),
    ],
    warnings: [],
    data: [{ login: 'a' }],
  },
  {
    rule: 'constraints as an array',
    documents: [
      documentOf('constrained', {
        login: { type: 'string', constraints: [{ required: true }, { minLength: 1 }] },
      }),
    ],
    warnings: ['lightblue-spelling'],
    data: [{ login: 'a' }],
  },
  {
    rule: 'constraints as an empty array',
    documents: [
      documentOf(
        'unconstrained',
        { login: { type: 'string', constraints: [] } },
        { schema: { constraints: [] } },
      ),
    ],
    warnings: ['lightblue-spelling'],
    data: [{ login: 'a' }],
  },
  {
    rule: 'identity in array elements',
    documents: [
      documentOf('elements', {
        list: {
          type: 'array',
          items: { type: 'object', fields: { k: { type: 'string', constraints: { identity: true } } } },
        },
      }),
    ],
    warnings: ['lightblue-spelling'],
    data: [{ list: [{ k: 'a' }, { k: 'b' }] }],
  },
  {
    rule: 'an index path through an array',
    documents: [
      documentOf(
        'indexed',
        { list: { type: 'array', items: { type: 'object', fields: { k: string } } } },
        { info: { indexes: [{ name: 'k', unique: true, fields: [{ field: 'list.k', dir: '$asc' }] }] } },
      ),
    ],
    warnings: ['lightblue-spelling'],
    data: [{ list: [{ k: 'a' }] }],
  },
  {
    rule: 'an index on a field that no version has',
    documents: [
      documentOf(
        'waiting',
        { login: string },
        { info: { indexes: [{ name: 'x', fields: [{ field: 'later', dir: '$desc' }] }] } },
      ),
    ],
    warnings: ['index-without-field'],
    data: [{ login: 'a' }],
  },
  {
    rule: 'a sequence without name',
    documents: [
      documentOf('counted', {
        no: { type: 'integer', constraints: { required: true }, valueGenerator: { type: 'IntSequence' } },
      }),
    ],
    warnings: ['lightblue-spelling'],
    data: [{}],
  },
  {
    rule: 'names with hyphen and underscore',
    documents: [
      documentOf(
        '_user-account',
        { login: string },
        { info: { datastore: { collection: '_user-account' } } },
      ),
    ],
    warnings: [],
    data: [{ login: 'a' }],
  },
  {
    rule: 'a reference to an entity that is not defined',
    documents: [
      documentOf('lonely', {
        other: {
          type: 'reference',
          entity: 'nowhere',
          query: { field: 'a', op: '=', rfield: '$parent._id' },
        },
      }),
    ],
    warnings: ['undefined-reference'],
    data: [{}],
  },
  {
    rule: 'a reference to a version that is not defined',
    documents: [
      documentOf('pointing', { other: { type: 'reference', entity: 'target', versionValue: '9.0.0' } }),
      documentOf('target', { a: string }),
    ],
    warnings: ['undefined-reference'],
    data: [{}],
  },
  {
    rule: 'entities that refer to each other',
    documents: [
      documentOf('left', {
        rights: {
          type: 'reference',
          entity: 'right',
          versionValue: '1.0.0',
          query: { field: 'leftId', op: '=', rfield: '$parent._id' },
        },
      }),
      documentOf('right', {
        leftId: string,
        left: {
          type: 'reference',
          entity: 'left',
          query: { field: '_id', op: '=', rfield: '$parent.leftId' },
        },
      }),
    ],
    warnings: ['undefined-reference'],
    data: [{}],
  },
  {
    rule: 'an audit hook',
    documents: [documentOf('audited', { login: string }, { info: { hooks: [auditHook] } })],
    warnings: [],
    data: [{ login: 'a' }],
  },
  {
    rule: 'an audit hook with its entity',
    documents: [
      documentOf(
        'audited2',
        { login: string },
        {
          info: {
            hooks: [
              {
                name: 'audit',
                actions: ['insert'],
                configuration: { entityName: 'audit', version: '1.0.0' },
              },
            ],
          },
        },
      ),
    ],
    warnings: [],
    data: [{ login: 'a' }],
  },
  {
    rule: 'a hook with a configuration of its own',
    documents: [documentOf('published', { login: string }, { info: { hooks: [publishHook] } })],
    warnings: ['inert-hook'],
    data: [{ login: 'a' }],
  },
  {
    rule: 'a notification hook',
    documents: [documentOf('notified', { login: string }, { info: { hooks: [notificationHook] } })],
    warnings: [],
    data: [{ login: 'a' }],
  },
  {
    rule: 'keys of other programs',
    documents: [
      documentOf(
        'annotated',
        { login: { type: 'string', required: true, uiHint: { order: 1 } } },
        {
          info: {
            manageIndexes: false,
            description: 'x',
            indexes: [{ fields: [{ field: 'login' }], partialFilterExpression: { a: 1 } }],
          },
        },
      ),
    ],
    warnings: ['unknown-key'],
    data: [{ login: 'a' }],
  },
  {
    rule: 'everything in one',
    documents: [
      documentOf(
        'user-account',
        {
          login: { type: 'string', constraints: [{ identity: 1 }, { required: 1 }] },
          no: {
            type: 'integer',
            valueGenerator: { type: 'IntSequence', configuration: { initialValue: '100' } },
          },
          status: { type: 'string', constraints: { enum: 'states' } },
          addresses,
          sessions: {
            type: 'reference',
            entity: '_session',
            versionValue: '1.0.0',
            query: { field: 'login', op: '=', rfield: '$parent.login' },
          },
          orders: {
            type: 'reference',
            entity: 'shop-order',
            query: { field: 'login', op: '$eq', rfield: '$parent.login' },
          },
        },
        {
          info: {
            enums: [{ name: 'states', values: ['on', 'off'] }],
            indexes: [
              { name: 'login', unique: 1, fields: [{ field: 'login', dir: '$asc' }] },
              { name: 'city', fields: [{ field: 'addresses.city', caseInsensitive: 1 }] },
              { name: 'later', fields: [{ field: 'later.k' }] },
            ],
            hooks: [auditHook, publishHook, notificationHook],
            manageIndexes: true,
          },
        },
      ),
      documentOf('_session', { login: string }),
    ],
    warnings: [
      'lightblue-spelling',
      'undefined-reference',
      'index-without-field',
      'inert-hook',
      'unknown-key',
    ],
    data: [{ login: 'a', status: 'on', addresses: [{ addressId: '1', city: 'Bern' }, { addressId: '2' }] }],
  },
]
