/** Row 20: the attacks of this folder reach every route that handles documents; a new one has to join them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LOCK_ROUTES } from '../../../src/http/routes/data/lock-routes.ts'
import { ROUTES } from '../../../src/http/routes/routes.ts'
import { ENTRY_POINTS } from './entry-points.ts'

const LOCKS = LOCK_ROUTES.map(({ operationId }) => operationId)

/** Routes of /data without a query, an order, a projection, a change or a document of the caller. */
const OTHERS = ['generateDefault', 'generate', 'historyDefault', 'history', 'searches', ...LOCKS]

test('entry points: every route of /data is one of them, or has nothing to attack with', () => {
  const attacked = new Set(ENTRY_POINTS.map(({ route }) => route))
  const ids = ROUTES.filter(({ tag }) => tag === 'data').map(({ operationId }) => operationId)
  assert.deepEqual(
    ids.filter((id) => !attacked.has(id) && !OTHERS.includes(id)),
    [],
  )
  assert.deepEqual(
    [...attacked].filter((id) => !ids.includes(id)),
    [],
  )
})
