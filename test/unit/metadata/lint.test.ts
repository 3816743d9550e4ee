/** The linter of metadata: what each rule finds, and what it leaves alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reachOf, reachesIn } from '../../../src/access/reach.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { compileSchema } from '../../../src/metadata/compile.ts'
import { parseEntityInfo } from '../../../src/metadata/documents/entity-info.ts'
import { lint } from '../../../src/metadata/lint/lint.ts'
import type { Finding } from '../../../src/metadata/finding.ts'
import type { Others } from '../../../src/metadata/lint/subject.ts'
import { parseSchemaDocument } from '../../../src/metadata/documents/schema-document.ts'
import { CONFIGURED, infoOf, schemaOf, versionOf } from './samples.ts'

const string = { type: 'string' }
/** Nothing about this is doubtful. */
const SOUND: JsonObject = { find: ['anyone'], insert: ['hr'], update: ['hr'], delete: ['hr'] }
const OWN = { field: 'owner', op: '=', rvalue: '$caller.principal' }

const guarded = (lists: JsonObject): JsonObject => ({ ...string, access: lists })
const ruled = (role: string, where: Json = OWN): JsonObject => ({ role, where })

interface Entity {
  readonly info?: JsonObject
  readonly versions: readonly Version[]
  /** The entity "other", which references may lead to. */
  readonly other?: Entity
}

interface Version {
  readonly access?: JsonObject
  readonly fields: JsonObject
  readonly status?: string
}

/** Versions are 1.0.0, 2.0.0 and so on. */
function findingsIn({ other, ...entity }: Entity): readonly Finding[] {
  const { info, schemas } = compiled('item', entity)
  const known = other && compiled('other', other)
  const others: Others = (name, version = '1.0.0') => {
    const schema = known?.schemas.find((each) => each.entity === name && each.version === version)
    return known && schema && { info: known.info, schema }
  }
  return lint(info, schemas, { access: { reachOf, reachesIn }, others })
}

function compiled(name: string, { info = {}, versions }: Entity) {
  const parsed = parseEntityInfo(infoOf({ ...info, name }), '', CONFIGURED)
  const schemas = versions.map(({ access = SOUND, fields, status = 'active' }, i) => {
    const more = { ...versionOf(`${i + 1}.0.0`), name, access, status: { value: status } }
    return compileSchema(parsed, parseSchemaDocument(schemaOf(fields, more), ''), [])
  })
  return { info: parsed, schemas }
}

const one = (fields: JsonObject, access: JsonObject = SOUND, info: JsonObject = {}): Entity => ({
  info,
  versions: [{ fields, access }],
})
const two = (first: Version, second: Version): Entity => ({ versions: [first, second] })
const unique = (...fields: readonly string[]): JsonObject => ({
  indexes: [{ name: 'x', unique: true, fields: fields.map((field) => ({ field })) }],
})
const indexed = (field: string): JsonObject => ({ indexes: [{ name: 'x', fields: [{ field }] }] })
const hook = (configuration?: JsonObject): JsonObject => ({
  hooks: [{ name: 'h', actions: ['update'], ...(configuration && { configuration }) }],
})

type Expected = readonly [
  severity: 'warning' | 'hint',
  code: string,
  at: string,
  version: string,
  msg?: RegExp,
]

const hooked = (configuration: JsonObject): Pick<Entity, 'info'> => ({ info: hook(configuration) })
const hidden = guarded({ find: ['hr'], insert: ['hr'], update: ['hr'] })
const SECRET = { name: string, salary: guarded({ find: ['hr'], insert: ['hr'], update: ['hr'] }) }
const PLAIN = { name: string, salary: guarded({ insert: ['hr'], update: ['hr'] }) }
const WRITERS = { ...SOUND, insert: ['hr', 'temp'] }

const byRule = (where: Json): Version => ({
  fields: { owner: string },
  access: { ...SOUND, find: ['hr', ruled('clerk', where)] },
})
const fieldByRule = (rvalue: string): Version => ({
  fields: { name: guarded({ find: ['hr', ruled('clerk', { field: 'name', op: '=', rvalue })] }) },
})
const UNINDEXED: readonly Expected[] = [
  ['hint', 'rule-without-index', '/schema/access/find/1/where', '1.0.0'],
]

const refersTo = (query: Json, more: JsonObject = {}): JsonObject => ({
  type: 'reference',
  entity: 'other',
  query,
  ...more,
})
const equal = (field: string, rfield: string): JsonObject => ({ field, op: '=', rfield })
const BY_KEY = refersTo(equal('key', '$parent.key'))
/** Of "item", beginning with "key", and of "other" with what is given. */
const referring = (
  fields: JsonObject,
  otherFields: JsonObject,
  { info = indexed('key'), other = {} }: { readonly info?: JsonObject; readonly other?: JsonObject } = {},
): Entity => ({ ...one(fields, SOUND, info), other: one(otherFields, SOUND, other) })
const within = (fields: JsonObject): JsonObject => ({ type: 'array', items: { type: 'object', fields } })

const CASES: readonly [rule: string, entity: Entity, expected: readonly Expected[]][] = [
  ['sound metadata has no findings', one({ name: string }), []],
  ['no version, no findings', { versions: [] }, []],

  [
    'version-downgrade: a field that another version shows',
    two({ fields: PLAIN }, { fields: SECRET }),
    [
      [
        'warning',
        'version-downgrade',
        '/schema/fields/salary/access/find',
        '1.0.0',
        /^find of "salary" is denied to anyone else in version 2\.0\.0, but version 1\.0\.0 grants it/,
      ],
    ],
  ],
  [
    'version-downgrade: an entity list, reported once and not for each field',
    two({ fields: PLAIN }, { fields: PLAIN, access: { ...SOUND, find: ['hr'] } }),
    [['warning', 'version-downgrade', '/schema/access/find', '1.0.0', /^find of documents .* anyone else/]],
  ],
  [
    'version-downgrade: an object, reported once and not for each member',
    two(
      { fields: { box: { type: 'object', fields: { a: string, b: string } } } },
      { fields: { box: { type: 'object', access: { find: ['hr'] }, fields: { a: string, b: string } } } },
    ),
    [['warning', 'version-downgrade', '/schema/fields/box/access/find', '1.0.0']],
  ],
  [
    'version-downgrade: members of array elements, updates, and deletes',
    two(
      { fields: { a: { type: 'array', items: { type: 'object', fields: { b: string } } } } },
      {
        fields: {
          a: { type: 'array', items: { type: 'object', fields: { b: guarded({ update: ['x'] }) } } },
        },
        access: { ...SOUND, delete: ['noone'] },
      },
    ),
    [
      ['warning', 'version-downgrade', '/schema/fields/a/items/fields/b/access/update', '1.0.0', /"hr"/],
      ['warning', 'version-downgrade', '/schema/access/delete', '1.0.0'],
      ['hint', 'protected-below-updatable', '/schema/fields/a/items/fields/b/access/update', '2.0.0'],
    ],
  ],
  [
    'version-downgrade: a row rule that the other version lacks',
    two(
      { fields: { owner: string }, access: { ...SOUND, find: ['hr', 'clerk'] } },
      { fields: { owner: string }, access: { ...SOUND, find: ['hr', ruled('clerk')] } },
    ),
    [
      [
        'warning',
        'version-downgrade',
        '/schema/access/find',
        '1.0.0',
        /granted for some documents only to "clerk"/,
      ],
      ['hint', 'rule-without-index', '/schema/access/find/1/where', '2.0.0'],
    ],
  ],
  [
    'version-downgrade: a member hidden here, but below a field of type any there',
    two(
      { fields: { box: { type: 'any' } } },
      { fields: { box: { type: 'object', fields: { a: guarded({ find: ['hr'] }) } } } },
    ),
    [['warning', 'version-downgrade', '/schema/fields/box/access/find', '1.0.0', /^find of "box.a"/]],
  ],
  [
    'version-downgrade: a disabled version does no harm, a deprecated one does',
    {
      versions: [
        { fields: PLAIN, status: 'disabled' },
        { fields: PLAIN, status: 'deprecated' },
        { fields: SECRET },
      ],
    },
    [['warning', 'version-downgrade', '/schema/fields/salary/access/find', '2.0.0']],
  ],
  [
    'version-downgrade: rules that differ',
    two(byRule(OWN), byRule({ field: 'owner', op: '!=', rvalue: '$caller.principal' })),
    [
      [
        'warning',
        'version-downgrade',
        '/schema/access/find',
        '2.0.0',
        /^find of documents is granted to "clerk" by other rules in version 1\.0\.0 than in version 2\.0\.0/,
      ],
      ...UNINDEXED,
      ['hint', 'rule-without-index', '/schema/access/find/1/where', '2.0.0'],
    ],
  ],
  [
    'version-downgrade: rules of a field that differ',
    two(fieldByRule('a'), fieldByRule('b')),
    [['warning', 'version-downgrade', '/schema/fields/name/access/find', '2.0.0', /by other rules/]],
  ],
  [
    'version-downgrade: the same rule written in two ways is sound',
    two(byRule(OWN), byRule({ rvalue: '$caller.principal', op: '$eq', field: 'owner' })),
    [...UNINDEXED, ['hint', 'rule-without-index', '/schema/access/find/1/where', '2.0.0']],
  ],
  ...[{ $and: [] }, { $or: [OWN, { $and: [] }] }, { $not: { $or: [] } }].map(
    (where): [string, Entity, readonly Expected[]] => [
      `version-downgrade: a rule that always holds is none: ${JSON.stringify(where)}`,
      { ...two(byRule(OWN), byRule(where)), info: indexed('owner') },
      [
        [
          'warning',
          'version-downgrade',
          '/schema/access/find',
          '2.0.0',
          /for some documents only to "clerk"/,
        ],
      ],
    ],
  ),
  [
    'version-downgrade: no rule and one that always holds are alike',
    two(byRule({ $and: [] }), { ...byRule(OWN), access: { ...SOUND, find: ['hr', 'clerk'] } }),
    [],
  ],
  ['version-downgrade: the same lists everywhere are sound', two({ fields: SECRET }, { fields: SECRET }), []],

  [
    'unique-over-hidden: a writer who may not read',
    one({ code: guarded({ find: ['hr'] }) }, WRITERS, unique('code')),
    [
      [
        'warning',
        'unique-over-hidden',
        '/entityInfo/indexes/0',
        '1.0.0',
        /^"code" must be unique, and "temp" may/,
      ],
    ],
  ],
  [
    'unique-over-hidden: an identity',
    one(
      {
        o: {
          type: 'object',
          fields: { code: { ...guarded({ find: ['hr'] }), constraints: { identity: true } } },
        },
      },
      WRITERS,
    ),
    [['warning', 'unique-over-hidden', '/schema/fields/o/fields/code/constraints/identity', '1.0.0']],
  ],
  [
    'unique-over-hidden: one field of two is enough',
    one(
      { code: guarded({ find: ['hr'], insert: ['hr'], update: ['hr'] }), name: string },
      WRITERS,
      unique('name', 'code'),
    ),
    [['warning', 'unique-over-hidden', '/entityInfo/indexes/0', '1.0.0', /to read "code"/]],
  ],
  [
    'unique-over-hidden: who may not write cannot try',
    one({ code: guarded({ find: ['hr'] }) }, SOUND, unique('code')),
    [],
  ],
  [
    'unique-over-hidden: documents that a row rule hides are a hint',
    one(
      { owner: string, code: string },
      { find: ['hr', ruled('clerk')], insert: ['hr', 'clerk'], update: ['hr'], delete: ['hr'] },
      {
        indexes: [
          { name: 'c', unique: true, fields: [{ field: 'code' }] },
          { name: 'o', fields: [{ field: 'owner' }] },
        ],
      },
    ),
    [['hint', 'unique-over-hidden', '/entityInfo/indexes/0', '1.0.0', /"clerk" may read some of them only/]],
  ],

  [
    'element-identity-hidden: a writer of elements who may not read',
    one(
      {
        a: {
          type: 'array',
          items: {
            type: 'object',
            fields: { id: { ...guarded({ find: ['hr'] }), constraints: { 'element-identity': true } } },
          },
        },
      },
      WRITERS,
    ),
    [
      [
        'warning',
        'element-identity-hidden',
        '/schema/fields/a/items/fields/id/constraints/element-identity',
        '1.0.0',
        /"temp"/,
      ],
    ],
  ],

  [
    'hook-carries-hidden: a watched field',
    one(SECRET, SOUND, hook({ watchProjection: [{ field: 'salary' }] })),
    [
      [
        'warning',
        'hook-carries-hidden',
        '/entityInfo/hooks/0',
        '1.0.0',
        /"h" names "salary", which anyone else may not/,
      ],
    ],
  ],
  [
    'hook-carries-hidden: an included field',
    one(
      SECRET,
      SOUND,
      hook({ watchProjection: { field: 'name' }, includeProjection: { field: '*', recursive: true } }),
    ),
    [['warning', 'hook-carries-hidden', '/entityInfo/hooks/0', '1.0.0']],
  ],
  [
    'hook-carries-hidden: a hook that watches everything is a hint',
    one(SECRET, SOUND, hook()),
    [['hint', 'hook-carries-hidden', '/entityInfo/hooks/0', '1.0.0', /watches everything, also "salary"/]],
  ],
  [
    'hook-carries-hidden: an exclusion is heeded',
    one(SECRET, SOUND, hook({ watchProjection: [{ field: '*' }, { field: 'salary', include: false }] })),
    [],
  ],
  [
    'hook-carries-hidden: only in the versions that hide what it carries',
    {
      ...hooked({ watchProjection: [{ field: 'salary' }, { field: 'bonus' }] }),
      versions: [
        { fields: SECRET },
        { fields: { name: string, salary: string } },
        { fields: { name: string, bonus: hidden } },
      ],
    },
    [
      ['warning', 'version-downgrade', '/schema/fields/salary/access/find', '2.0.0'],
      ['warning', 'hook-carries-hidden', '/entityInfo/hooks/0', '1.0.0', /names "salary", which/],
      ['warning', 'hook-carries-hidden', '/entityInfo/hooks/0', '3.0.0', /names "bonus", which/],
    ],
  ],
  [
    'hook-carries-hidden: elements of an array, where a version has the array',
    {
      ...hooked({ watchProjection: { field: 'lines', range: [0, 1], projection: { field: 'secret' } } }),
      versions: [
        { fields: { name: string, secret: hidden } },
        { fields: { lines: within({ secret: hidden }) } },
      ],
    },
    [['warning', 'hook-carries-hidden', '/entityInfo/hooks/0', '2.0.0', /names "lines\.\*\.secret"/]],
  ],
  [
    'hook-carries-hidden: who may not read documents at all reads no events',
    one(SECRET, { ...SOUND, find: ['hr'] }, hook({ watchProjection: { field: 'salary' } })),
    [],
  ],

  [
    'anyone-writes: each operation',
    one({ name: string }, { find: ['hr'], insert: ['anyone'], update: ['hr', 'anyone'], delete: ['anyone'] }),
    ['insert', 'update', 'delete'].map((each): Expected => [
      'warning',
      'anyone-writes',
      `/schema/access/${each}`,
      '1.0.0',
    ]),
  ],
  [
    'anyone-writes: a rule that always holds is none',
    one({ name: string }, { ...SOUND, insert: [ruled('anyone', { $and: [] })] }),
    [['warning', 'anyone-writes', '/schema/access/insert', '1.0.0']],
  ],
  ['anyone-writes: noone is stronger', one({ name: string }, { ...SOUND, insert: ['anyone', 'noone'] }), []],
  [
    'anyone-writes: a row rule for anyone is a choice',
    one({ owner: string }, { ...SOUND, insert: [ruled('anyone')] }),
    [],
  ],

  [
    'no-access: no list at all',
    one({ name: string }, {}),
    [['warning', 'no-access', '/schema/access', '1.0.0']],
  ],
  [
    'no-access: a forgotten list',
    one({ name: string }, { find: ['hr'], insert: ['hr'], update: [], delete: ['noone'] }),
    [['hint', 'no-access', '/schema/access/update', '1.0.0', /^nobody may update documents/]],
  ],
  [
    'no-access: a field that nobody reads',
    one({ box: { type: 'object', access: { find: ['noone'] }, fields: { a: string } } }),
    [['hint', 'no-access', '/schema/fields/box/access/find', '1.0.0', /^nobody may read "box"/]],
  ],
  [
    'no-access: a field that takes two roles at once',
    one({ name: guarded({ find: ['doctor'] }) }, { ...SOUND, find: ['hr'] }),
    [['warning', 'no-access', '/schema/fields/name/access/find', '1.0.0', /^no role alone may read "name"/]],
  ],

  [
    'rule-field-writable: who may write what the rule of a field asks about',
    one(
      { owner: string, salary: guarded({ find: ['hr', ruled('clerk')] }) },
      { ...SOUND, update: ['hr', 'clerk'] },
    ),
    [
      [
        'warning',
        'rule-field-writable',
        '/schema/fields/salary/access/find/1/where',
        '1.0.0',
        /"clerk" may find "salary" .* may update "owner"/,
      ],
    ],
  ],
  [
    'rule-field-writable: deletes, too',
    one(
      { owner: string },
      { ...SOUND, update: ['hr', 'clerk'], delete: ['hr', ruled('clerk')] },
      indexed('owner'),
    ),
    [['warning', 'rule-field-writable', '/schema/access/delete/1/where', '1.0.0']],
  ],
  [
    'rule-field-writable: who may find under the rule only cannot reach the others',
    one(
      { owner: string },
      { ...SOUND, find: ['hr', ruled('clerk')], update: ['hr', 'clerk'] },
      indexed('owner'),
    ),
    [],
  ],
  [
    'rule-field-writable: the field is kept from them',
    one(
      { owner: guarded({ update: ['hr'] }) },
      { ...SOUND, update: ['hr', 'clerk'], delete: ['hr', ruled('clerk')] },
      indexed('owner'),
    ),
    [],
  ],

  ...(
    [
      { $or: [] },
      { field: 'owner', op: '$in', values: [] },
      { $not: { $and: [] } },
      {
        $and: [
          { field: 'owner', op: '=', rvalue: 'a' },
          { field: 'owner', op: '=', rvalue: 'b' },
        ],
      },
    ] as JsonObject[]
  ).map((where): [string, Entity, readonly Expected[]] => [
    `rule-never-matches: ${JSON.stringify(where)}`,
    one({ owner: string }, { ...SOUND, find: ['hr', ruled('clerk', where)] }, indexed('owner')),
    [['warning', 'rule-never-matches', '/schema/access/find/1/where', '1.0.0']],
  ]),
  [
    'rule-never-matches: the same question twice can be answered',
    one(
      { owner: string },
      {
        ...SOUND,
        find: ['hr', ruled('clerk', { $and: [OWN, OWN, { field: 'owner', op: '=', rvalue: 'a' }] })],
      },
      indexed('owner'),
    ),
    [],
  ],
  [
    'rule-without-effect: the role stands beside it without a rule',
    one({ owner: string }, { ...SOUND, find: ['hr', 'clerk', ruled('clerk')] }, indexed('owner')),
    [['hint', 'rule-without-effect', '/schema/access/find/2', '1.0.0', /^"clerk" stands in the same list/]],
  ],
  [
    'rule-without-index: a hint where every request looks at everything',
    one({ owner: string }, { ...SOUND, find: ['hr', ruled('clerk')] }),
    [
      [
        'hint',
        'rule-without-index',
        '/schema/access/find/1/where',
        '1.0.0',
        /^no index serves the rule, .* "owner",/,
      ],
    ],
  ],
  ...(
    [
      ['one condition of an $and', { $and: [{ field: 'public', op: '=', rvalue: true }, OWN] }, true],
      ['each alternative of an $or', { $or: [OWN, { field: 'owner', op: '$in', values: ['all'] }] }, true],
      ['not each alternative of an $or', { $or: [OWN, { field: 'public', op: '=', rvalue: true }] }, false],
      ['a range', { field: 'owner', op: '>=', rvalue: '$caller.principal' }, true],
      ['the beginning of a text', { field: 'owner', regex: '^a' }, true],
      ['a part of a text', { field: 'owner', regex: 'a' }, false],
      ['inequality', { ...OWN, op: '!=' }, false],
      ['a list of others', { field: 'owner', op: '$nin', values: ['a'] }, false],
      ['negation', { $not: OWN }, false],
      ['two fields', { field: 'owner', op: '=', rfield: 'name' }, false],
      ['an inequality beside what is served', { $and: [{ ...OWN, op: '!=' }, OWN] }, true],
      ['none of a list', { array: 'tags', contains: '$none', values: ['a'] }, false],
    ] as const
  ).map(([what, where, isServed]): [string, Entity, readonly Expected[]] => [
    `rule-without-index: an index and ${what}`,
    one(
      { owner: string, name: string, public: { type: 'boolean' }, tags: { type: 'array', items: string } },
      { ...SOUND, find: ['hr', ruled('clerk', where)] },
      { indexes: ['owner', 'tags.*'].map((field) => ({ name: field, fields: [{ field }] })) },
    ),
    isServed ? [] : UNINDEXED,
  ]),
  [
    'rule-without-index: the rule of a field does not narrow a find',
    one({ owner: string, name: guarded({ find: ['hr', ruled('clerk')] }) }),
    [],
  ],
  [
    'rule-without-index: an index into the array that the rule asks about',
    one(
      { owners: { type: 'array', items: string } },
      {
        ...SOUND,
        find: ['hr', ruled('clerk', { array: 'owners', contains: '$any', values: ['$caller.principal'] })],
      },
      indexed('owners.*'),
    ),
    [],
  ],

  [
    'reference-without-index: the field of the other entity',
    referring({ key: string, r: BY_KEY }, { key: string }),
    [
      [
        'hint',
        'reference-without-index',
        '/schema/fields/r/query',
        '1.0.0',
        /^no index of "other" begins with "key", so to follow "r" .*; add one to "indexes" of its entity info$/,
      ],
    ],
  ],
  [
    'reference-without-index: the field of this entity, for questions from the other side',
    referring({ ref: string, r: refersTo(equal('_id', '$parent.ref')) }, { key: string }, { info: {} }),
    [
      [
        'hint',
        'reference-without-index',
        '/schema/fields/r/query',
        '1.0.0',
        /^no index of "item" begins with "ref", so to find documents by what "r" leads to .* add one/,
      ],
    ],
  ],
  [
    'reference-without-index: indexes on both sides are sound, also where the holder stands first',
    referring(
      { key: string, r: BY_KEY, s: refersTo(equal('$parent.key', 'key')) },
      { key: string },
      { other: indexed('key') },
    ),
    [],
  ],
  [
    'reference-without-index: an index that ignores case finds nothing that is equal',
    referring(
      { key: string, r: BY_KEY },
      { key: string },
      { other: { indexes: [{ fields: [{ field: 'key', caseInsensitive: true }] }] } },
    ),
    [['hint', 'reference-without-index', '/schema/fields/r/query', '1.0.0', /"other" begins with "key"/]],
  ],
  [
    'reference-without-index: one equality of several is enough',
    referring(
      {
        key: string,
        a: string,
        r: refersTo({ $and: [equal('a', '$parent.a'), equal('key', '$parent.key')] }),
      },
      { key: string, a: string },
      { other: indexed('key') },
    ),
    [],
  ],
  [
    'reference-without-index: each of several alternatives needs one',
    referring(
      { key: string, r: refersTo({ $or: [equal('key', '$parent.key'), equal('a', '$parent.key')] }) },
      { key: string, a: string },
      { other: indexed('key') },
    ),
    [['hint', 'reference-without-index', '/schema/fields/r/query', '1.0.0', /"other" begins with "a"/]],
  ],
  [
    'reference-without-index: a list of keys, on either side',
    referring(
      {
        keys: { type: 'array', items: string },
        r: refersTo({ field: '_id', op: '$in', rfield: '$parent.keys' }),
        s: refersTo({ field: '$parent._id', op: '$in', rfield: 'owners' }),
      },
      { owners: { type: 'array', items: string } },
      { info: indexed('keys.*') },
    ),
    [['hint', 'reference-without-index', '/schema/fields/s/query', '1.0.0', /"other" begins with "owners"/]],
  ],
  [
    'reference-without-index: elements of arrays on both sides, by elemMatch',
    referring(
      {
        lines: within({
          key: string,
          r: refersTo({ array: 'parts', elemMatch: equal('no', '$parent.$parent.key') }),
        }),
      },
      { parts: within({ no: string }) },
      { info: {} },
    ),
    [
      [
        'hint',
        'reference-without-index',
        '/schema/fields/lines/items/fields/r/query',
        '1.0.0',
        /"parts\.\*\.no"/,
      ],
      [
        'hint',
        'reference-without-index',
        '/schema/fields/lines/items/fields/r/query',
        '1.0.0',
        /"lines\.\*\.key"/,
      ],
    ],
  ],
  [
    'reference-without-index: what the holder compares with itself finds no documents',
    referring(
      {
        key: string,
        lines: within({ key: string }),
        r: refersTo({ array: '$parent.lines', elemMatch: equal('key', '$parent.key') }),
      },
      { key: string },
      { info: {} },
    ),
    [],
  ],
  [
    'reference-without-index: an entity that refers to itself',
    one({ up: string, r: refersTo(equal('up', '$parent._id'), { entity: 'item' }) }),
    [['hint', 'reference-without-index', '/schema/fields/r/query', '1.0.0', /"item" begins with "up"/]],
  ],
  [
    'reference-without-index: nothing to compare, nothing to index',
    referring(
      {
        a: string,
        all: { type: 'reference', entity: 'other' },
        some: refersTo({ field: 'key', op: '=', rvalue: 'x' }),
        less: refersTo({ field: 'key', op: '<', rfield: '$parent.a' }),
        not: refersTo({ field: 'key', op: '!=', rfield: '$parent.a' }),
      },
      { key: string },
      { info: {} },
    ),
    [],
  ],
  [
    'invalid-reference: the other entity lacks the field; no index is missed',
    { ...referring({ key: string, r: BY_KEY }, { nothing: string }) },
    [['warning', 'invalid-reference', '/schema/fields/r', '1.0.0']],
  ],

  [
    'reference-over-hidden: a field of the other entity',
    referring({ key: string, r: BY_KEY }, { key: guarded({ find: ['hr'] }) }, { other: indexed('key') }),
    [
      [
        'warning',
        'reference-over-hidden',
        '/schema/fields/r/query',
        '1.0.0',
        /^"r" asks about "key" of "other", which anyone else may not read: for them it is empty; /,
      ],
    ],
  ],
  [
    'reference-over-hidden: a field of this entity, also below $not',
    referring(
      { key: guarded({ find: ['hr'] }), r: refersTo({ $not: equal('_id', '$parent.key') }) },
      { a: string },
    ),
    [['warning', 'reference-over-hidden', '/schema/fields/r/query', '1.0.0', /"key" of "item"/]],
  ],
  [
    'reference-over-hidden: what it is sorted by',
    referring(
      { key: string, r: refersTo(equal('_id', '$parent.key'), { sort: { rank: '$asc' } }) },
      { rank: guarded({ find: ['hr'] }) },
    ),
    [['warning', 'reference-over-hidden', '/schema/fields/r/sort', '1.0.0', /"rank" of "other"/]],
  ],
  [
    'reference-over-hidden: members of elements, as far as the sides are kept apart',
    referring(
      {
        parts: within({ no: string }),
        r: refersTo({ array: 'parts', elemMatch: equal('no', '$parent.$parent._id') }),
      },
      { parts: within({ no: guarded({ find: ['hr'] }) }) },
      { info: {}, other: indexed('parts.*.no') },
    ),
    [
      [
        'warning',
        'reference-over-hidden',
        '/schema/fields/r/query',
        '1.0.0',
        /"parts\.\*\.no" of "other", which/,
      ],
    ],
  ],
  [
    'reference-over-hidden: whoever may not see the reference misses nothing',
    referring(
      { key: string, r: refersTo(equal('key', '$parent.key'), { access: { find: ['hr'] } }) },
      { key: guarded({ find: ['hr'] }) },
      { other: indexed('key') },
    ),
    [],
  ],
  [
    'reference-over-hidden: whoever may not find the other entity at all is kept out on purpose',
    {
      ...one({ key: string, r: BY_KEY }, SOUND, indexed('key')),
      other: one({ key: string }, { ...SOUND, find: ['hr'] }, indexed('key')),
    },
    [],
  ],
]

const PROTECTED: typeof CASES = [
  [
    'protected-below-updatable: a member that readers of an object may not update',
    one({ o: { type: 'object', fields: { x: string, f: guarded({ update: ['boss'] }) } } }),
    [
      [
        'hint',
        'protected-below-updatable',
        '/schema/fields/o/fields/f/access/update',
        '1.0.0',
        /^"hr" may read "o\.f" but not update it.* cannot remove "o"/,
      ],
    ],
  ],
  [
    'protected-below-updatable: the outermost of several, in elements, and by a row rule',
    one({
      owner: guarded({ update: ['boss'] }),
      a: {
        type: 'array',
        items: {
          type: 'object',
          fields: {
            o: {
              type: 'object',
              access: { update: [ruled('hr')] },
              fields: { f: string, g: guarded({ update: ['boss'] }) },
            },
          },
        },
      },
    }),
    [
      ['hint', 'protected-below-updatable', '/schema/fields/a/items/fields/o/access/update', '1.0.0'],
      [
        'hint',
        'protected-below-updatable',
        '/schema/fields/a/items/fields/o/fields/g/access/update',
        '1.0.0',
        /"hr".*"a\.\*\.o"/,
      ],
    ],
  ],
  [
    'protected-below-updatable: not where the member is hidden, the container is protected, or the service makes the value',
    one({
      hidden: { type: 'object', fields: { f: guarded({ find: ['boss'], update: ['boss'] }) } },
      whole: { type: 'object', access: { update: ['boss'] }, fields: { f: guarded({ update: ['boss'] }) } },
      stamped: {
        type: 'object',
        fields: {
          at: {
            type: 'date',
            access: { update: ['noone'] },
            valueGenerator: { type: 'CurrentTime', overwrite: true },
          },
        },
      },
      f: guarded({ update: ['boss'] }),
    }),
    [],
  ],
]

for (const [rule, entity, expected] of [...CASES, ...PROTECTED]) {
  test(`lint: ${rule}`, () => {
    const findings = findingsIn(entity)
    assert.deepEqual(
      findings.map(({ severity, code, at, version }) => [severity, code, at, version]),
      expected.map(([severity, code, at, version]) => [severity, code, at, version]),
      JSON.stringify(findings, undefined, 2),
    )
    for (const [i, [, , , , msg]] of expected.entries()) {
      if (msg) assert.match(findings[i]!.msg, msg)
    }
  })
}

const ITSELF = { type: 'reference', entity: 'item' }

/** The names of a hook, and those of them that no version has, each with its place in the hook. */
const WATCHED: readonly (readonly [
  configuration: JsonObject,
  missing: readonly (readonly [at: string, path: string])[],
])[] = [
  [{ watchProjection: { field: 'nmae' } }, [['configuration/watchProjection', 'nmae']]],
  [
    { watchProjection: [{ field: 'name' }, { field: 'box.b' }] },
    [['configuration/watchProjection/1', 'box.b']],
  ],
  [{ includeProjection: [{ field: 'lines.sku' }] }, [['configuration/includeProjection/0', 'lines.sku']]],
  [
    { watchProjection: { field: 'lines', range: [0, 1], projection: [{ field: 'sku' }, { field: 'qty' }] } },
    [['configuration/watchProjection', 'lines.*.qty']],
  ],
  [{ watchProjection: { field: 'line', range: [0, 1] } }, [['configuration/watchProjection', 'line']]],
  [{ watchProjection: { field: 'name', include: false }, includeProjection: [] }, []],
  [{ watchProjection: [{ field: '*' }, { field: '*.a' }, { field: 'box.*' }, { field: 'more.of.it' }] }, []],
  [{ watchProjection: [{ field: 'lines.0.sku' }, { field: 'lines.*.sku' }, { field: 'lines#' }] }, []],
  [{ watchProjection: [{ field: 'older' }, { field: '_id' }, { field: 'tags.-1' }] }, []],
]

for (const [configuration, missing] of WATCHED) {
  test(`lint: hook-without-field: ${JSON.stringify(configuration)}`, () => {
    const fields = {
      name: string,
      box: { type: 'object', fields: { a: string } },
      lines: { type: 'array', items: { type: 'object', fields: { sku: string } } },
      tags: { type: 'array', items: string },
      more: { type: 'any' },
    }
    const versions = [{ fields: { older: string }, status: 'disabled' }, { fields }]
    const findings = findingsIn({ ...hooked(configuration), versions })
    assert.deepEqual(
      findings.map(({ severity, code, at }) => [severity, code, at]),
      missing.map(([at]) => ['warning', 'hook-without-field', `/entityInfo/hooks/0/${at}`]),
    )
    for (const [i, [, path]] of missing.entries()) {
      assert.ok(findings[i]!.msg.startsWith(`the hook "h" names "${path}", and no version has`))
    }
  })
}

test('lint: hook-without-field: references', () => {
  const fields = {
    name: string,
    lines: { type: 'array', items: { type: 'object', fields: { product: ITSELF } } },
  }
  const names = ['name', 'lines.0.product.*.name', 'lines.*.product', 'lines.*.product#']
  const projection = names.map((field) => ({ field }))
  const findings = findingsIn({ ...hooked({ watchProjection: projection }), versions: [{ fields }] })
  const isReference = '"lines.*.product" is a reference, whose documents are not part of events'
  assert.deepEqual(
    findings.map(({ code, at, msg }) => [code, at.split('/').at(-1), msg.includes(isReference)]),
    [
      ['hook-without-field', '1', true],
      ['hook-without-field', '2', true],
      ['hook-without-field', '3', false],
    ],
  )
})

test('lint: of many findings of one kind the first are reported, and that there are more', () => {
  const fields = Object.fromEntries(
    Array.from({ length: 1_200 }, (_, i) => [`f${i}`, guarded({ find: ['noone'] })]),
  )
  const findings = findingsIn(one(fields))
  assert.equal(findings.length, 1_001)
  assert.deepEqual([findings.at(-1)!.code, findings.at(-1)!.at], ['no-access', ''])
  assert.match(findings.at(-1)!.msg, /more findings of this kind/)
})

test('lint: of many roles a message names some', () => {
  const many = Array.from({ length: 100 }, (_, i) => `r${i}`)
  const [finding] = findingsIn(
    one(
      { a: string, o: { type: 'object', fields: { f: guarded({ update: ['x'] }) } } },
      { ...SOUND, update: many },
    ),
  )
  assert.match(finding!.msg, /^"r0", "r1".* and 80 others may read "o\.f"/)
})

test('lint: warnings come before hints', () => {
  const findings = findingsIn(
    one({ owner: string }, { find: ['hr', ruled('clerk')], insert: ['anyone'], update: ['hr'] }),
  )
  const severities = findings.map(({ severity }) => severity)
  assert.deepEqual(severities, ['warning', 'hint', 'hint'])
})

test('lint: every finding says what to do, and where', () => {
  const findings = CASES.flatMap(([, entity]) => findingsIn(entity))
  for (const { msg, at } of findings) {
    assert.match(msg, /; |, or | add /)
    assert.match(at, /^\/(schema|entityInfo)\//)
  }
})

test('lint: many versions with many fields and roles take no more than five seconds', () => {
  const lists = { find: ['a', 'b', 'c'], update: ['d', 'e'], insert: ['f', 'g', 'h'] }
  const fields = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`f${i}`, guarded(lists)]))
  const versions = Array.from({ length: 10 }, () => ({ fields }))
  const began = performance.now()
  findingsIn({ versions })
  assert.ok(performance.now() - began < 5_000, `${performance.now() - began} ms`)
})
