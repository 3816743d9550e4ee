/** Loaded documents are stored in the order of their collection, whichever versions define their members. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openRegistry } from '../../../src/metadata/registry.ts'
import { checkDocument } from '../../../src/service/load/check-document.ts'
import { memoryMetadata } from '../metadata/memory-metadata.ts'
import { CONFIGURED, metadataOf, versionOf } from '../metadata/samples.ts'

const TEXT = { type: 'string' }
const object = (fields: Readonly<Record<string, typeof TEXT>>) => ({ type: 'object', fields })

test('load: members that only other versions define are stored in their place', async () => {
  const registry = await openRegistry(memoryMetadata(), { ...CONFIGURED, now: () => new Date(0) })
  const versions = [
    { a: TEXT, o: object({ x: TEXT }) },
    { c: TEXT, o: object({ y: TEXT, x: TEXT }), b: TEXT, p: object({ u: TEXT }) },
    { p: object({ t: TEXT, u: TEXT }) },
  ]
  for (const [i, fields] of versions.entries()) {
    const version = `${i + 1}.0.0`
    const body = metadataOf('item', { fields, schema: versionOf(version) })
    await registry.create('bob', { entity: 'item', version }, body)
  }
  const sent = { p: { u: '1', t: '2' }, b: '3', o: { x: '4', y: '5' }, c: '6', a: '7', _id: '8' }
  const rules = { schemas: registry.schemasOf('item'), dropsUnknown: false, maxFaults: 10 }
  const checked = checkDocument(sent, rules)
  assert.ok(checked.kind === 'valid', JSON.stringify(checked))
  assert.equal(
    JSON.stringify(checked.document),
    '{"objectType":"item","_id":"8","a":"7","c":"6","o":{"y":"5","x":"4"},"b":"3","p":{"t":"2","u":"1"}}',
  )
})
