/** Views: callers share one only where the access lists decide alike, and what is kept of all of them is limited. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Caller } from '../../../src/access/caller.ts'
import { type Condition, allOf, conditionOf } from '../../../src/access/conditions.ts'
import type { Visibility } from '../../../src/access/requests.ts'
import { viewOf } from '../../../src/access/view.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { memberCutter } from '../../../src/base/json/cut-members.ts'
import { hiddenMembers } from '../../../src/lang/evaluate/strip.ts'
import { type Schema, allFields } from '../../../src/schema/schema.ts'
import { stripOf } from '../../../src/service/read/hidden-members.ts'
import { callerAs, equals } from '../../service/access/ruled.ts'
import { compiledSchema } from '../../support/schema.ts'

const text = { type: 'string' }
const OPEN = equals('open', true)
const OWN = equals('owner', '$caller.principal')
const TEAM = equals('owner', '$caller.claims.team')

const readBy = (...find: readonly Json[]): JsonObject => ({ ...text, access: { find } })

const SCHEMA = compiledSchema('view', {
  open: { type: 'boolean' },
  owner: text,
  plain: readBy('boss', 'clerk'),
  closed: readBy('noone', 'boss'),
  all: readBy('anyone'),
  ruled: readBy('boss', { role: 'clerk', where: OPEN }),
  again: readBy('boss', { role: 'clerk', where: OPEN }),
  own: readBy('boss', { role: 'owner', where: OWN }, { role: 'clerk', where: OPEN }),
  team: readBy('boss', { role: 'member', where: TEAM }),
  box: {
    type: 'object',
    access: { find: ['boss', 'clerk'], insert: ['boss'] },
    fields: { in: { ...text, access: { find: ['boss', { role: 'owner', where: OWN }], update: ['clerk'] } } },
  },
  list: { type: 'array', access: { find: ['boss', 'owner'] }, items: text },
})

const view = (...caller: Parameters<typeof callerAs>) => viewOf(SCHEMA)(callerAs(...caller))

test('view: callers share one if they have the same of the roles that the schema names', () => {
  assert.equal(view(['clerk'], 'a'), view(['clerk'], 'b', { team: 'x' }))
  assert.equal(view(['other', 'boss', 'clerk']), view(['clerk', 'boss']))
  assert.equal(view([]), view(['other'], 'c'))
  assert.notEqual(view(['clerk']), view(['boss']))
  assert.notEqual(view(['clerk']), view(['boss', 'clerk']))
})

test('view: callers share none if a row rule takes a value from them', () => {
  assert.notEqual(view(['owner'], 'a'), view(['owner'], 'b'))
  assert.notEqual(
    view(['clerk', 'member'], 'a', { team: 'x' }),
    view(['clerk', 'member'], 'a', { team: 'y' }),
  )
  const [a, b] = ['a', 'b'].map((name) => view(['owner'], name))
  const own = SCHEMA.root.fields.get('own')!
  assert.ok(a!.visibilityOf!({ owner: 'b' }).isHidden(own))
  assert.ok(!b!.visibilityOf!({ owner: 'b' }).isHidden(own))
})

test('view: a list that is none of the schema never admits a caller who shares the view to more', () => {
  const other = compiledSchema('other', { a: readBy('clerk'), b: readBy('unknown') })
  view(['clerk', 'unknown'])
  const on = (name: string) => view(['clerk']).conditionOn(other.root.fields.get(name)!, 'find')
  assert.deepEqual(on('a'), [])
  assert.equal(on('b'), 'never')
})

/** The decision without anything that is kept or shared. */
function conditionBy(caller: Caller, lists: Parameters<typeof conditionOf>[0][]): Condition {
  return allOf(lists.map((list) => conditionOf(list, SCHEMA, caller)))
}

test('view: what is shared decides as the lists of each caller do', () => {
  const roles = ['boss', 'clerk', 'owner', 'member', 'anyone', 'noone', 'other']
  const fields = [...allFields(SCHEMA.root.fields)]
  for (let bits = 0; bits < 2 ** roles.length; bits++) {
    const own = roles.filter((_, i) => (bits >> i) % 2 === 1)
    for (const [name, claims] of [
      ['a', { team: 'x' }],
      ['b', {}],
    ] as const) {
      const caller = callerAs(own, name, claims)
      const made = viewOf(SCHEMA)(caller)
      for (const field of fields) {
        for (const operation of ['find', 'insert', 'update'] as const) {
          assert.deepEqual(
            made.conditionOn(field, operation),
            conditionBy(caller, [...field.roles[operation]]),
          )
        }
        const condition = conditionBy(caller, [...field.roles.find])
        assert.equal(made.visibility.isHidden(field), condition === 'never')
        assert.equal(made.alwaysShows(field), condition !== 'never' && condition.length === 0)
      }
      const hidden = fields.filter(made.visibility.isHidden).map(({ path }) => path)
      assert.deepEqual(
        made.visibility.exclusions.map(({ pattern }) => pattern.join('.')),
        hidden,
      )
      assert.equal(made.visibility.hidesSome, hidden.length > 0)
    }
  }
})

const FIELDS = 1_000
const FLAGS = 12

/** Twelve roles, and as many flags that a row rule of the role `ruled` reads. */
const WIDE = compiledSchema('wide', {
  ...Object.fromEntries(Array.from({ length: FLAGS }, (_, i) => [`flag${i}`, { type: 'boolean' }])),
  ...Object.fromEntries(
    Array.from({ length: FIELDS }, (_, i) => [
      `field${i}`,
      readBy(`role${i % FLAGS}`, { role: 'ruled', where: equals(`flag${i % FLAGS}`, true) }),
    ]),
  ),
})

test('view: views of different roles exclude a field by the same object', () => {
  const [one, other] = [['role1'], ['role2']].map(
    (roles) => viewOf(WIDE)(callerAs(roles)).visibility.exclusions,
  )
  assert.equal(one!.at(-1), other!.at(-1))
})

/** Makes what the first request of a caller or document makes. */
function use(schema: Schema, visibility: Visibility): void {
  memberCutter(hiddenMembers(schema.root.fields, visibility.isHidden)!)('{"a":1}')
  stripOf(schema)(visibility)({})
  assert.ok(visibility.exclusions.length > 0)
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function heapAfter(run: () => void): number {
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  run()
  collectGarbage()
  return (process.memoryUsage().heapUsed - before) / 1e6
}

const chosen = (bits: number) => Array.from({ length: FLAGS }, (_, i) => (bits >> i) % 2 === 1)
const COUNT = 990
const MAX_MB = 60

test('view: callers with ever other roles do not fill the memory', () => {
  const callers: Caller[] = []
  const grown = heapAfter(() => {
    for (let bits = 0; bits < COUNT; bits++) {
      const caller = callerAs(chosen(bits).flatMap((is, i) => (is ? [`role${i}`] : [])))
      callers.push(caller)
      use(WIDE, viewOf(WIDE)(caller).visibility)
    }
  })
  assert.ok(grown < MAX_MB, `${grown.toFixed()} MB for ${callers.length} callers`)
})

test('view: documents that match ever other row rules do not fill the memory', () => {
  const views = ['role0', 'role1'].map((role) => viewOf(WIDE)(callerAs(['ruled', role])))
  const grown = heapAfter(() => {
    for (const { visibilityOf } of views) {
      for (let bits = 0; bits < COUNT; bits++) {
        use(WIDE, visibilityOf!(Object.fromEntries(chosen(bits * 4).map((is, i) => [`flag${i}`, is]))))
      }
    }
  })
  assert.ok(grown < MAX_MB, `${grown.toFixed()} MB for ${views.length * COUNT} documents`)
})
