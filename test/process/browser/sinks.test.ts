/** Sinks in the page: state and failures, dead letters to look at, to try again and to discard; and a filtered tail. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestServer } from '../../support/server.ts'
import { onEveryStore } from '../../support/store-kind.ts'
import { type Seen, change, defineSandwich, insert } from '../../service/http/events-kitchen.ts'
import { deadLetters, eventually } from '../../service/http/sinks-kitchen.ts'
import { barriers } from './axe.ts'
import { visitSite } from './visit.ts'

onEveryStore(() => {
  test('sinks: dead letters are looked at, discarded, and tried again', async () => {
    await using kitchen = await deadLetters(['a', 'b', 'c'])
    const { server, receiver, dead } = kitchen
    await using visited = await visitSite(server.port)
    const { page, open } = visited
    await open('#/events?tab=sinks')
    const sink = page.getByRole('row').filter({ hasText: 'kitchen' })
    await sink.getByText('failing').waitFor()
    await sink.getByRole('button', { name: 'Dead letters' }).click()
    const letters = page.getByRole('listitem').filter({ hasText: 'status 500' })
    await letters.nth(2).waitFor()
    await letters.first().getByText('insert, 12 attempts').waitFor()
    await letters.first().getByRole('button', { name: 'Show' }).click()
    const event = page.getByRole('region', { name: /^Event / })
    await event.getByText('"documentId": "a"').waitFor()
    assert.ok(!(await event.innerText()).includes('77777'), 'only what the roles of the sink may see')
    assert.deepEqual(await barriers(page), [])
    kitchen.recover()
    await letters.first().getByRole('button', { name: 'Discard' }).click()
    await page.getByText('Discarded.').waitFor()
    await eventually(() => receiver.taken.length === 1, 'what waited behind it goes on')
    await letters.nth(2).waitFor({ state: 'detached' })
    await letters.first().getByRole('button', { name: 'Try again' }).click()
    await page.getByText('It is tried again.').waitFor()
    await eventually(() => receiver.taken.length === 3, 'one is delivered')
    await page.getByRole('button', { name: 'Try all again' }).click()
    await page.getByText('All are tried again.').waitFor()
    await eventually(() => receiver.taken.length === 5, 'all are delivered')
    await eventually(async () => (await dead()).length === 0, 'nothing is dead any more')
    assert.deepEqual(
      receiver.taken.map(({ subject }) => subject),
      ['a', 'b', 'b', 'c', 'c'],
    )
  })

  test('sinks: the page says where it does not show all dead letters', async () => {
    await using kitchen = await deadLetters(['a'])
    await using visited = await visitSite(kitchen.server.port)
    const { page, open } = visited
    const [letter] = await kitchen.dead()
    const pageOf = (count: number): object => ({
      dead: Array.from({ length: count }, (_, i) => ({ ...letter, id: String(i) })),
      next: 1,
    })
    let count = 99
    await page.route('**/events/sinks/kitchen/dead*', (route) => route.fulfill({ json: pageOf(count) }))
    await open('#/events?tab=sinks&sink=kitchen')
    const letters = page.getByRole('listitem').filter({ hasText: 'status 500' })
    const hint = page.getByText('there may be more')
    await letters.nth(98).waitFor()
    assert.equal(await hint.count(), 0)
    count = 100
    await page.reload()
    await letters.nth(99).waitFor()
    await hint.waitFor()
  })

  test('events: the live tail shows only what its filters let through', async () => {
    await using kitchen = await deadLetters(['a'])
    const { server } = kitchen
    await using visited = await visitSite(server.port)
    const { page, open } = visited
    await open('#/events')
    await page.getByText('following').waitFor()
    await page.getByLabel('Operation').selectOption('update')
    const events = page.getByRole('list', { name: 'Events, newest first' }).getByRole('listitem')
    let made = 0
    // events before the new stream begins are not shown
    await eventually(async () => {
      const id = `z${made++}`
      await insert(server, 'sandwich', { _id: id, name: 'z', toppings: ['x'] })
      await change(server, 'sandwich', id, { $append: { toppings: 'y' } })
      return (await events.filter({ hasText: 'sandwich z' }).count()) > 1
    }, 'updates are shown')
    assert.equal(await events.filter({ hasText: /\binsert\b/ }).count(), 0)
  })

  test('events: the live tail shows what happened while its connection was lost', async () => {
    // the service ends each stream after a moment
    await using server = await startTestServer({ limits: { streamTimeMs: 1_000 } })
    await defineSandwich(server)
    await using visited = await visitSite(server.port)
    const { page, open } = visited
    await open('#/events')
    for (const id of ['a', 'b']) {
      await page.getByText('connection lost').waitFor()
      await insert(server, 'sandwich', { _id: id, name: 'z', toppings: ['x'] })
      await page
        .getByRole('listitem')
        .filter({ hasText: `sandwich ${id}` })
        .waitFor()
    }
    const events = page.getByRole('list', { name: 'Events, newest first' }).getByRole('listitem')
    assert.equal(await events.count(), 2)
  })

  test('events: many at once are drawn together', async () => {
    await using server = await startTestServer({})
    await defineSandwich(server)
    await using visited = await visitSite(server.port)
    const { page, open } = visited
    await open('#/events')
    await page.getByText('following').waitFor()
    await page.evaluate(`
      window.drawn = 0
      new MutationObserver(() => window.drawn++).observe(document.body, { childList: true, subtree: true })
    `)
    const count = 400
    const data = Array.from({ length: count }, (_, i) => ({ _id: `s${i}`, name: 'z', toppings: ['x'] }))
    await insert(server, 'sandwich', data)
    const events = page.getByRole('list', { name: 'Events, newest first' }).getByRole('listitem')
    let names: readonly string[] = []
    await eventually(async () => {
      const { json } = await server.ask('GET', `/events?limit=${count}`)
      names = json.events.map(({ documentId }: Seen) => `sandwich ${documentId}`)
      return names.length === count
    }, 'all have their place')
    await events
      .first()
      .getByRole('link', { name: names.at(-1)!, exact: true })
      .waitFor()
    assert.deepEqual(await events.getByRole('link').allTextContents(), names.slice(-300).toReversed())
    const drawn = await page.evaluate<number>('window.drawn')
    assert.ok(drawn < count / 4, `drawn ${drawn} times`)
  })
})
