/** Two services on one database: one delivers what the other defines and writes at the same moment. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NEARBY, eventually, sinkTo, taker } from '../http/sinks-kitchen.ts'
import { ADMIN, metadataDocument, openServiceAt } from '../../support/service.ts'
import { useStore, freshPlace } from '../../support/store-kind.ts'

useStore('postgres')

const HOOKS = [{ name: 'all', actions: ['insert'] }]

test('sinks: events of an entity that another process defined a moment ago are not taken for hidden', async () => {
  await using place = await freshPlace()
  await using receiver = await taker()
  await using delivering = await openServiceAt(place.location, { events: NEARBY })
  await delivering.sinks.create(ADMIN, sinkTo(receiver.url))
  const entities = Array.from({ length: 12 }, (_, i) => `entity${i}`)
  const write = async (service: typeof delivering, entity: string): Promise<void> => {
    const body = metadataDocument(entity, { a: { type: 'string' } }, { info: { hooks: HOOKS } })
    await service.metadata.create(ADMIN, { entity, version: '1.0.0' }, body)
    const response = await service.data.insert(ADMIN, { entity }, { data: { a: 'x' } })
    assert.equal(response.status, 'COMPLETE')
  }
  await write(delivering, 'first')
  await eventually(() => receiver.taken.length === 1, 'the first one delivers')
  await using writing = await openServiceAt(place.location, { events: NEARBY })
  for (const entity of entities) await write(writing, entity)
  await eventually(() => receiver.taken.length === 13, 'all are delivered')
  // Only events of one document have an order.
  const sources = receiver.taken.map(({ source }) => String(source)).sort()
  assert.deepEqual(sources, ['first', ...entities].map((each) => `/entities/${each}`).sort())
})
