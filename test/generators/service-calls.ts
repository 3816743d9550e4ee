/** Calls of every operation on the service itself, its pages and its files. */
import { client, expect, fails, succeeds } from './client.ts'

const text = { parseAs: 'text' } as const

export async function callService(): Promise<void> {
  const { links } = await succeeds(client.GET('/'))
  expect(links['openapi'] === '/openapi.json', 'the links lead to the OpenAPI document')
  await succeeds(client.GET('/health'))
  await succeeds(client.GET('/data/health'))
  await succeeds(client.GET('/metadata/health'))
  const { status } = await succeeds(client.GET('/ready'))
  expect(status === 'ready', 'the service is ready')
  await succeeds(client.GET('/version'))
  const metrics = await succeeds(client.GET('/metrics', text))
  expect(metrics.includes('# HELP'), 'there are metrics')
  const { requests } = await succeeds(client.GET('/admin/slow-requests'))
  expect(
    requests.every(({ ms }) => ms > 0),
    'slow requests took some time',
  )
  // the server of the tests has no directory for backups
  await fails(client.POST('/admin/backup'), 'crud:InvalidRequest')
  const { openapi } = await succeeds(client.GET('/openapi.json'))
  expect(openapi === '3.1.0', 'the document is of OpenAPI')
  await readPages()
}

async function readPages(): Promise<void> {
  await succeeds(client.GET('/docs', text))
  const page = await succeeds(client.GET('/ui', text))
  await succeeds(client.GET('/ui/settings'))
  const file = /\/ui\/assets\/([^"]+)/.exec(page)![1]!
  await succeeds(client.GET('/ui/assets/{file}', { ...text, params: { path: { file } } }))
  await succeeds(client.GET('/docs/guide', text))
  await succeeds(client.GET('/docs/guide/{page}', { ...text, params: { path: { page: 'tutorial' } } }))
  const section = { section: 'reference', page: 'filters' }
  await succeeds(client.GET('/docs/guide/{section}/{page}', { ...text, params: { path: section } }))
}
