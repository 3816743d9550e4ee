/** Pages and changes far larger than the memory there is: what is shown of them decides, not what is read. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { citusUrl } from '../support/citus.ts'
import { ADMIN, metadataDocument, openServiceAt } from '../support/service.ts'
import { chooseStore, freshPlace } from '../support/store-kind.ts'

const COUNT = 150
/** Longer texts would be kept outside of the heap by some drivers, where nothing limits them. */
const TEXT = 'large '.repeat(133_500)

const EXPECTED = {
  plain: {
    ids: ['COMPLETE', COUNT, COUNT, null],
    'sorted ids of a range': ['COMPLETE', COUNT, COUNT - 1, null],
    everything: ['ERROR', 0, null, 'crud:ResultSizeTooLarge'],
    'ids in a bulk': COUNT,
    streamed: COUNT,
  },
  joined: {
    ids: ['COMPLETE', COUNT, COUNT, null],
    everything: ['ERROR', 0, null, 'crud:ResultSizeTooLarge'],
    streamed: COUNT,
  },
  // a unique index is built from all of them, and they are deleted
  changed: { deleted: ['COMPLETE', COUNT] },
}

for (const kind of ['sqlite', 'postgres'] as const) {
  // On a cluster, documents of references are read separately and held until the page is complete, within a limit.
  const heapMb = {
    plain: 96,
    changed: 96,
    joined: kind === 'postgres' && citusUrl() !== undefined ? 256 : 96,
  }
  test(`store: 120 MB of documents, or of joined ones, go through a small heap, on ${kind}`, async () => {
    chooseStore(kind)
    await using place = await freshPlace(kind)
    await fill(place.location)
    const child = fileURLToPath(new URL('./large-pages-child.ts', import.meta.url))
    for (const part of ['plain', 'joined', 'changed'] as const) {
      const args = [`--max-old-space-size=${heapMb[part]}`, child, place.location, part]
      const { stdout } = await promisify(execFile)(process.execPath, args)
      assert.deepEqual(JSON.parse(stdout), EXPECTED[part])
    }
  })
}

async function fill(location: string): Promise<void> {
  await using service = await openServiceAt(location)
  const query = { field: '_id', op: '=', rfield: '$parent._id' }
  const definitions = {
    large: { n: { type: 'integer' }, text: { type: 'string' } },
    root: { parts: { type: 'reference', entity: 'large', query } },
  }
  for (const [entity, fields] of Object.entries(definitions)) {
    await service.metadata.create(
      ADMIN,
      { entity, version: '1.0.0' },
      metadataDocument(entity, { _id: { type: 'string' }, ...fields }),
    )
  }
  for (let n = 0; n < COUNT; n++) {
    const _id = String(n).padStart(3, '0')
    const large = await service.data.insert(ADMIN, { entity: 'large' }, { data: [{ _id, n, text: TEXT }] })
    const root = await service.data.insert(ADMIN, { entity: 'root' }, { data: [{ _id }] })
    assert.deepEqual([large.status, root.status], ['COMPLETE', 'COMPLETE'])
  }
}
