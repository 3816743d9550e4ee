/** The message about a value that an enum does not allow lists the allowed ones, but only to those who may know the field. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { ANYONE, callerWith, dataErrorCodes } from '../../support/service.ts'
import { type Tenant, openTenant } from '../../support/shared-service.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const many = Array.from({ length: 13 }, (_, i) => `v${i}`)
const ENUMS = [
  { name: 'colours', values: ['red', 'blue'] },
  { name: 'many', values: many },
  { name: 'long', values: ['x'.repeat(200)] },
]
const constraints = { enum: 'colours' }
const OWN = { role: 'owner', where: { field: '_id', op: '=', rvalue: '$caller.principal' } }
const FIELDS: JsonObject = {
  open: { type: 'string', constraints },
  secret: {
    type: 'string',
    constraints,
    access: { find: ['reader'], insert: ['inserter'], update: ['updater', OWN] },
  },
  many: { type: 'string', constraints: { enum: 'many' } },
  long: { type: 'string', constraints: { enum: 'long' } },
  tags: {
    type: 'array',
    items: { type: 'string', constraints },
    access: { find: ['reader'], insert: ['inserter'], update: ['updater'] },
  },
}
const COLOURS = /one of the values of the enum colours: "red", "blue"$/
const NOTHING = /one of the values of the enum colours$/

async function open(): Promise<Tenant> {
  const tester = await openTenant()
  await tester.define(tester.entity, FIELDS, { info: { enums: ENUMS }, schema: { access: ANYONE } })
  return tester
}

/** The message about the enum, among those about access. */
function messageIn(response: Parameters<typeof dataErrorCodes>[0]): string {
  const errors = response.dataErrors?.flatMap((each) => each.errors) ?? response.errors ?? []
  return errors.find(({ errorCode }) => errorCode === 'crud:InvalidEnum')?.msg ?? JSON.stringify(errors)
}

onEveryStore(() => {
  test('crud:InvalidEnum: the allowed values are listed, of many the first ten', async () => {
    await using tester = await open()
    const { entity } = tester
    const message = async (data: JsonObject): Promise<string> =>
      messageIn(await tester.insert(entity, { data }))
    assert.match(await message({ open: 'pink' }), COLOURS)
    assert.match(await message({ many: 'x' }), /: "v0", "v1", .*"v9" … and 3 more$/)
    assert.match(await message({ long: 'x' }), /: "x{60}…"$/)
    await tester.insert(entity, { data: { _id: '1', open: 'red' } })
    const query = { field: '_id', op: '=', rvalue: '1' }
    const caller = callerWith()
    const updated = await tester.service.data.update(
      caller,
      { entity },
      { query, update: { $set: { open: 'x' } } },
    )
    assert.match(messageIn(updated), COLOURS)
    const saved = await tester.service.data.save(caller, { entity }, { data: { _id: '1', open: 'x' } })
    assert.match(messageIn(saved), COLOURS)
    const created = await tester.service.data.save(
      caller,
      { entity },
      { data: { _id: '2', open: 'x' }, upsert: true },
    )
    assert.match(messageIn(created), COLOURS)
  })

  test('crud:InvalidEnum: callers who may neither read nor write the field are shown no values', async () => {
    await using tester = await open()
    const { entity } = tester
    const cases = [
      ['reader', COLOURS],
      ['inserter', COLOURS],
      ['updater', COLOURS],
      ['owner', COLOURS],
      ['other', NOTHING],
    ] as const
    for (const [role, ofSecret] of cases) {
      const caller = callerWith(role)
      const sent = await tester.insert(entity, { data: { secret: 'pink' } }, caller)
      assert.match(messageIn(sent), ofSecret, role)
      const saved = await tester.service.data.save(
        caller,
        { entity },
        { data: { _id: 'new', secret: 'pink' }, upsert: true },
      )
      assert.match(messageIn(saved), ofSecret, role)
    }
    const tags = async (role: string): Promise<string> =>
      messageIn(await tester.insert(entity, { data: { tags: ['red', 'pink'] } }, callerWith(role)))
    assert.match(await tags('reader'), COLOURS)
    assert.match(await tags('inserter'), COLOURS)
    assert.match(await tags('other'), NOTHING)
  })
})
