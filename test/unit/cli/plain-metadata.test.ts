/** Metadata as files: what the service adds to an index for text search is left out. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainInfo } from '../../../src/cli/metadata/plain.ts'
import { parseIndexes, printIndex } from '../../../src/metadata/documents/indexes.ts'

test('metadata pull: an index for text search is written as it was declared', () => {
  const declared = [
    { name: 'text', kind: 'text', fields: [{ field: 'title', weight: 3 }, { field: 'body' }] },
    { name: 'german', kind: 'text', language: 'german', fields: [{ field: 'title' }] },
    { name: 'by city', fields: [{ field: 'city' }] },
  ]
  const stored = parseIndexes(declared, '').map(printIndex)
  assert.deepEqual(plainInfo({ name: 'page', indexes: stored })['indexes'], declared)
})
