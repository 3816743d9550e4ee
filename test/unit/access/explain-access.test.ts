/** Explanations of access: what they say of chosen cases. That they come true is in the random test beside this one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AccessExplanation, explainAccess } from '../../../src/access/explain-access.ts'
import { accessTable } from '../../../src/access/reach.ts'
import type { JsonObject } from '../../../src/base/json/json.ts'
import type { EntityOperation } from '../../../src/schema/schema.ts'
import { fieldPointer, fieldsOnPath } from '../../../src/schema/fields-on-path.ts'
import { compiledSchema } from '../../support/schema.ts'
import { callerAs, equals } from '../../service/access/ruled.ts'

const OWN = equals('owner', '$caller.principal')
const MINE = equals('team', '$caller.claims.team')
const text = { type: 'string' }

const SCHEMA = compiledSchema(
  'case',
  {
    owner: text,
    team: text,
    open: text,
    secret: { ...text, access: { find: ['boss'], insert: ['boss'] } },
    never: { ...text, access: { find: ['noone', 'boss'] } },
    wide: { ...text, access: { find: ['anyone'] } },
    shared: { ...text, access: { find: ['boss', { role: 'clerk', where: MINE }] } },
    box: {
      type: 'object',
      access: { find: ['boss', 'clerk'] },
      fields: { inner: { ...text, access: { find: ['boss'] } }, plain: text },
    },
    list: {
      type: 'array',
      access: { find: ['boss'] },
      items: { type: 'object', fields: { 'a/b': { ...text, access: { update: ['boss'] } } } },
    },
  },
  {
    schema: {
      access: {
        find: ['boss', { role: 'clerk', where: OWN }, { role: 'clerk', where: MINE }],
        insert: ['anyone'],
        update: ['boss', 'clerk', 'robot'],
      },
    },
  },
)

const CALLERS = {
  boss: callerAs(['boss'], 'bo'),
  clerk: callerAs(['clerk'], 'ann', { team: 'red' }),
  'clerk without team': callerAs(['clerk'], 'ann'),
  'clerk without name': callerAs(['clerk']),
  robot: callerAs(['robot'], 'r2'),
  nobody: callerAs([]),
}

function explained(who: keyof typeof CALLERS, operation: EntityOperation, path?: string): AccessExplanation {
  const trail = path === undefined ? undefined : fieldsOnPath(SCHEMA, path)!
  return explainAccess({ schema: SCHEMA, operation, ...(trail && { trail }) }, CALLERS[who])
}

const ENTRIES = { $or: [OWN, MINE] }

const CASES: readonly [
  rule: string,
  ask: readonly [who: keyof typeof CALLERS, operation: EntityOperation, path?: string],
  explanation: readonly [decision: string, at: string, because: string, inherited: boolean],
  where?: readonly JsonObject[],
][] = [
  ['a role in the list of the entity', ['boss', 'find'], ['allow', '/access/find', 'role', false]],
  ['anyone', ['nobody', 'insert'], ['allow', '/access/insert', 'anyone', false]],
  ['no role in common', ['nobody', 'find'], ['deny', '/access/find', 'unlisted', false]],
  ['an absent list of the entity', ['boss', 'delete'], ['deny', '/access/delete', 'empty', false]],
  ['a field without a list inherits', ['boss', 'find', 'open'], ['allow', '/access/find', 'role', true]],
  [
    'a list of the field denies',
    ['nobody', 'insert', 'secret'],
    ['deny', '/fields/secret/access/insert', 'unlisted', false],
  ],
  ['noone is strongest', ['boss', 'find', 'never'], ['deny', '/fields/never/access/find', 'noone', false]],
  [
    'the entity denies before the field admits',
    ['nobody', 'find', 'wide'],
    ['deny', '/access/find', 'unlisted', true],
  ],
  [
    'a list deeper down denies',
    ['clerk', 'find', 'box.inner'],
    ['deny', '/fields/box/fields/inner/access/find', 'unlisted', false],
  ],
  [
    'a list on the way down is inherited',
    ['boss', 'find', 'box.plain'],
    ['allow', '/fields/box/access/find', 'role', true],
  ],
  [
    'elements have the list of the array',
    ['boss', 'find', 'list.*'],
    ['allow', '/fields/list/access/find', 'role', true],
  ],
  [
    'a member of elements has its own',
    ['clerk', 'update', 'list.0.a/b'],
    ['deny', '/fields/list/items/fields/a~1b/access/update', 'unlisted', false],
  ],
  [
    'the size of an array is guarded by the array',
    ['clerk', 'find', 'list#'],
    ['deny', '/fields/list/access/find', 'unlisted', true],
  ],
  ['several rules of one list', ['clerk', 'find'], ['conditional', '/access/find', 'role', false], [ENTRIES]],
  [
    'only rules that can be answered',
    ['clerk without team', 'find'],
    ['conditional', '/access/find', 'role', false],
    [OWN],
  ],
  [
    'rules that cannot be answered match nothing',
    ['clerk without name', 'find'],
    ['deny', '/access/find', 'unanswered', false],
  ],
  [
    'rules of entity and field together',
    ['clerk', 'find', 'shared'],
    ['conditional', '/fields/shared/access/find', 'role', false],
    [ENTRIES, MINE],
  ],
  [
    'a field inherits the rules of the entity',
    ['clerk', 'find', 'wide'],
    ['conditional', '/access/find', 'role', true],
    [ENTRIES],
  ],
  [
    'what cannot be found cannot be updated',
    ['clerk', 'update', 'open'],
    ['conditional', '/access/find', 'role', true],
    [ENTRIES],
  ],
  [
    'who cannot find at all is not narrowed by what can be found',
    ['robot', 'update', 'open'],
    ['allow', '/access/update', 'role', true],
  ],
]

for (const [rule, ask, [decision, at, because, inherited], where] of CASES) {
  test(`explain access: ${rule}`, () => {
    const explanation = explained(...ask)
    assert.deepEqual(
      [
        explanation.decision,
        explanation.rule.at,
        explanation.rule.because,
        explanation.rule.inherited,
        explanation.where,
      ],
      [decision, at, because, inherited, where],
      explanation.reason,
    )
  })
}

test('explain access: the rule is explained with its list, its field and the entries that admit', () => {
  assert.deepEqual(explained('clerk', 'find', 'shared').rule, {
    at: '/fields/shared/access/find',
    field: 'shared',
    operation: 'find',
    list: ['boss', { role: 'clerk', where: MINE }],
    entries: [{ role: 'clerk', where: MINE }],
    because: 'role',
    inherited: false,
  })
})

const REASONS: readonly [ask: Parameters<typeof explained>, reason: RegExp][] = [
  [['boss', 'delete'], /^the list "delete" of the entity is empty or absent/],
  [['boss', 'find', 'never'], /^the list "find" of "never" holds "noone"/],
  [
    ['clerk without name', 'find'],
    /^the rules in the list "find" of the entity ask for something that is not known/,
  ],
  [['nobody', 'insert', 'secret'], /^the list "insert" of "secret" names none of the caller's roles$/],
  [
    ['boss', 'find', 'open'],
    /^the list "find" of the entity admits "boss"; the field has no list of its own/,
  ],
  [
    ['clerk', 'find'],
    /^the list "find" of the entity admits "clerk", but only to documents that match "where"$/,
  ],
]

for (const [ask, reason] of REASONS) {
  test(`explain access: ${ask.join(' ')} is explained in a sentence`, () => {
    assert.match(explained(...ask).reason, reason)
  })
}

test('access table: how far each role reaches, field by field', () => {
  const { roles, access, fields } = accessTable(SCHEMA) as {
    roles: string[]
    access: JsonObject
    fields: (JsonObject & { path: string })[]
  }
  assert.deepEqual(roles, ['boss', 'clerk', 'robot', 'anyone else'])
  assert.deepEqual(access, {
    find: { boss: 'yes', clerk: 'where', robot: 'no', 'anyone else': 'no' },
    insert: { boss: 'yes', clerk: 'yes', robot: 'yes', 'anyone else': 'yes' },
    update: { boss: 'yes', clerk: 'where', robot: 'yes', 'anyone else': 'no' },
    delete: { boss: 'no', clerk: 'no', robot: 'no', 'anyone else': 'no' },
  })
  const secret = fields.find(({ path }) => path === 'secret')
  assert.deepEqual(secret, {
    path: 'secret',
    find: { boss: 'yes', clerk: 'no', robot: 'no', 'anyone else': 'no' },
    insert: { boss: 'yes', clerk: 'no', robot: 'no', 'anyone else': 'no' },
    update: { boss: 'yes', clerk: 'where', robot: 'yes', 'anyone else': 'no' },
  })
  assert.ok(fields.some(({ path }) => path === 'list.*.a/b') && fields.some(({ path }) => path === 'list#'))
})

test('field pointer: objects, arrays and names that need escaping', () => {
  assert.equal(fieldPointer('a'), '/fields/a')
  assert.equal(fieldPointer('a.b~/c'), '/fields/a/fields/b~0~1c')
  assert.equal(fieldPointer('a.*.b'), '/fields/a/items/fields/b')
})
