/** Idempotency keys of plain documents: an answer is kept even if it is larger than those that a caller can make smaller. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeBackup } from '../../../src/service/backup/backup.ts'
import { restore } from '../../../src/service/backup/restore.ts'
import { startTestServer } from '../../support/server.ts'
import { freshPlace, onEveryStore } from '../../support/store-kind.ts'

const LARGE = { text: 'x'.repeat(4_500_000) }

onEveryStore(() => {
  test('idempotency: a large plain document is created once, also after backup and restore', async (t) => {
    await using server = await startTestServer()
    await server.define('thing', { text: { type: 'string' } })
    const post = (to: typeof server, key: string) =>
      to.ask('POST', '/documents/thing', { body: LARGE, headers: { 'Idempotency-Key': key } })
    const keys = Array.from({ length: 2 }, (_, i) => `k${i}`)
    const firsts = []
    for (const key of keys) firsts.push(await post(server, key))
    for (const first of firsts) assert.equal(first.status, 201, first.text.slice(0, 300))
    const again = await post(server, 'k1')
    assert.equal(again.headers['idempotency-replayed'], 'true')
    assert.equal(again.text, firsts[1]!.text)
    assert.equal(again.headers.location, firsts[1]!.headers.location)
    const refused = await server.ask('PUT', '/data/insert/thing', {
      body: { data: [LARGE], projection: { field: '*' } },
      headers: { 'Idempotency-Key': 'other' },
    })
    assert.equal(refused.status, 413)
    assert.match(refused.text, /nothing was written. Ask for less/)
    const scratch = mkdtempSync(join(tmpdir(), 'smalt-large-'))
    t.after(() => rmSync(scratch, { recursive: true }))
    const file = join(scratch, 'large.jsonl.gz')
    await makeBackup({ from: server.location, file })
    await using target = await freshPlace()
    await restore({ file, to: target.location })
    await using restored = await startTestServer({ location: target.location })
    for (const i of [0, keys.length - 1]) assert.equal((await post(restored, keys[i]!)).text, firsts[i]!.text)
    const { json } = await restored.ask('GET', '/documents/thing?count=true&fields=_id')
    assert.equal((json as { total: number }).total, keys.length)
  })
})
