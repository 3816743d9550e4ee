/** Calls of every operation on events, sinks and dead letters. */
import { type Schemas, client, expect, fails, succeeds } from './client.ts'

export async function callEvents(): Promise<void> {
  await readEvents()
  await manageSinks()
}

async function readEvents(): Promise<void> {
  const page = await succeeds(
    client.GET('/events', {
      params: { query: { since: 0, limit: 10, wait: 0, entity: 'book', operation: 'insert' } },
    }),
  )
  // with another `Accept` it would be lines of text
  expect(typeof page !== 'string' && page.events[0]?.operation === 'insert', 'the first event is an insert')
  const controller = new AbortController()
  const stream = await succeeds(
    client.GET('/events/stream', {
      params: { query: { entity: 'book', hook: 'all' }, header: { 'Last-Event-ID': '0' } },
      parseAs: 'stream',
      signal: controller.signal,
    }),
  )
  const { value } = await stream!.pipeThrough(new TextDecoderStream()).getReader().read()
  expect(value?.includes('id: ') === true, 'events come in')
  controller.abort()
}

async function manageSinks(): Promise<void> {
  const kitchen: Schemas['SinkRequest'] = {
    name: 'kitchen',
    url: 'https://kitchen.example.com/events',
    secret: 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=',
    roles: ['cook'],
    filter: { entity: 'sandwich', operation: 'delete' },
  }
  const params = { path: { sink: 'kitchen' } }
  const created = await succeeds(client.POST('/events/sinks', { body: kitchen }))
  expect(created.status === 'active' && created.filter.entity === 'sandwich', 'the sink is active')
  const { sinks } = await succeeds(client.GET('/events/sinks'))
  expect(sinks.length === 1, 'there is one sink')
  await succeeds(client.GET('/events/sinks/{sink}', { params }))
  await succeeds(
    client.PUT('/events/sinks/{sink}', { params, body: { url: kitchen.url, roles: ['cook', 'chef'] } }),
  )
  const { dead } = await succeeds(
    client.GET('/events/sinks/{sink}/dead', { params: { ...params, query: { since: 0, limit: 10 } } }),
  )
  expect(dead.length === 0, 'nothing failed')
  const { redriven } = await succeeds(client.POST('/events/sinks/{sink}/dead/redrive', { params }))
  expect(redriven === 0, 'nothing is tried again')
  await callDeadLetters()
  await succeeds(client.DELETE('/events/sinks/{sink}', { params }))
}

/** An event is dead after twelve attempts, which take hours. */
async function callDeadLetters(): Promise<void> {
  const params = { path: { sink: 'kitchen', eventId: '6b1f0c4e-7a0e-4a53-9f5e-0d2f4a1b8c33' } }
  const address = '/events/sinks/{sink}/dead/{eventId}'
  await fails(client.GET(address, { params }), 'crud:UnknownDeadLetter')
  await fails(client.POST(address, { params }), 'crud:UnknownDeadLetter')
  await fails(client.DELETE(address, { params }), 'crud:UnknownDeadLetter')
}
