/** A table of 100,000 documents in a real browser: first view, frames while scrolling, and memory afterwards. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { CDPSession, Page } from 'playwright-core'
import { site } from '../browser/visit.ts'

const COUNT = 100_000
/** Of several measurements the best one counts: the machine may be busy with something else. */
const TRIES = 3
const MAX_TRIES = 10
const FIRST_VIEW_MS = 1_000
/** Of 50 frames a second. */
const FRAME_MS = 20

void suite('a large table', () => {
  const { visit } = site(async (server) => {
    await server.define('big', {
      name: { type: 'string' },
      city: { type: 'string' },
      amount: { type: 'integer' },
      day: { type: 'date' },
    })
    const data = Array.from({ length: COUNT }, (_, i) => ({
      _id: String(i).padStart(6, '0'),
      name: `name ${i}`,
      city: `city ${i % 97}`,
      amount: i,
      day: '2026-01-02T00:00:00Z',
    }))
    for (let from = 0; from < COUNT; from += 20_000) {
      const body = { data: data.slice(from, from + 20_000) }
      const answer = await server.ask('PUT', '/data/insert/big', { body })
      assert.equal(answer.json.modifiedCount, 20_000)
    }
  })

  test('table: 100,000 documents appear at once, scroll smoothly, and leave no memory', async (t) => {
    await using visited = await visit()
    const { page, open } = visited
    const times: number[] = []
    const isQuick = (): boolean => times.length >= TRIES && Math.min(...times) < FIRST_VIEW_MS
    while (times.length < MAX_TRIES && !isQuick()) {
      await page.goto('about:blank')
      const begun = performance.now()
      await open('#/data/big?sort=_id')
      await row(page, 'name 0').waitFor()
      times.push(performance.now() - begun)
    }
    t.diagnostic(`first view: ${times.map((ms) => ms.toFixed(0)).join(', ')} ms`)

    const devtools = await page.context().newCDPSession(page)
    // processor time of the main thread, which depends less on what else the machine does than frames a second
    await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
    await frames(page, 300)
    const before = await heapBytes(devtools)
    const costs: number[] = []
    while (costs.length < MAX_TRIES && !(costs.length >= TRIES && Math.min(...costs) < FRAME_MS)) {
      const begun = await metric(devtools, 'TaskDuration')
      const { count, perSecond } = await frames(page, 1_500)
      const costMs = ((await metric(devtools, 'TaskDuration')) - begun) * 1_000
      costs.push(costMs / count)
      t.diagnostic(
        `${perSecond.toFixed(0)} frames a second, ${(costMs / count).toFixed(1)} ms of work in each`,
      )
    }

    await page.evaluate(`document.querySelector('.grid').scrollTop = 1e9`)
    await row(page, `name ${COUNT - 1}`).waitFor()
    await page.evaluate(`document.querySelector('.grid').scrollTop = 1.8e6`)
    await row(page, 'name 50000').waitFor()
    const rows = await page.getByRole('row').count()
    const grown = (await heapBytes(devtools)) - before
    t.diagnostic(`rows in the page: ${rows}; heap grown by ${(grown / 1e6).toFixed(1)} MB`)

    assert.ok(Math.min(...times) < FIRST_VIEW_MS, times.join(', '))
    // other processes on the same cores make the same work more expensive
    assert.ok(Math.min(...costs) < 2 * FRAME_MS, costs.join(', '))
    assert.ok(rows < 100, `${rows} rows`)
    assert.ok(grown < 8e6, `${grown} bytes`)
  })
})

function row(page: Page, name: string) {
  return page.getByRole('gridcell', { name, exact: true })
}

interface Frames {
  readonly count: number
  readonly perSecond: number
}

/** Scrolls on by some rows with each frame, for so long. */
async function frames(page: Page, ms: number): Promise<Frames> {
  return await page.evaluate<Frames>(`new Promise((resolve) => {
    const grid = document.querySelector('.grid')
    const begun = performance.now()
    let count = 0
    const step = (now) => {
      grid.scrollTop += 400
      count++
      if (now - begun < ${ms}) requestAnimationFrame(step)
      else resolve({ count, perSecond: count / ((now - begun) / 1000) })
    }
    requestAnimationFrame(step)
  })`)
}

async function heapBytes(devtools: CDPSession): Promise<number> {
  await devtools.send('HeapProfiler.collectGarbage')
  return await metric(devtools, 'JSHeapUsedSize')
}

async function metric(devtools: CDPSession, wanted: string): Promise<number> {
  const { metrics } = await devtools.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === wanted)!.value
}
