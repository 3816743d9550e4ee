/** Routes of the service itself: links, health, readiness, version, metrics, slow requests and documentation. */
import { Type } from '../../base/json/shape.ts'
import { accepts } from './accept.ts'
import { type Call, type Content, type Reply, type Route, jsonReply } from './route.ts'
import { NAME, VERSION } from '../version.ts'

const HEALTH: Content = { shape: Type.Object({ status: Type.Literal('up') }), example: { status: 'up' } }
const UNAVAILABLE = Type.Object({ status: Type.Literal('unavailable'), reason: Type.String() })
const READY: Content = { shape: Type.Object({ status: Type.Literal('ready') }), example: { status: 'ready' } }
const VERSIONS: Content = {
  shape: Type.Object({ name: Type.String(), version: Type.String(), node: Type.String() }),
  example: { name: NAME, version: VERSION, node: process.version },
}
const LINKS: Content = {
  shape: Type.Object({
    name: Type.String(),
    version: Type.String(),
    links: Type.Object({}, { additionalProperties: Type.String(), description: 'Name to path.' }),
  }),
}
const OPENAPI: Content = {
  shape: Type.Object({ openapi: Type.String() }, { additionalProperties: true }),
}
const BACKUPS: Content = {
  shape: Type.Object({
    backups: Type.Array(
      Type.Object({
        file: Type.String(),
        from: Type.String(),
        bytes: Type.Integer(),
        documents: Type.Integer(),
        entities: Type.Integer(),
        seconds: Type.Unknown(),
      }),
    ),
  }),
  name: 'Backups',
}
const SLOW: Content = {
  shape: Type.Object({
    overMs: Type.Integer({ description: 'Milliseconds from which a request is slow.' }),
    kept: Type.Integer({ description: 'How many are kept.' }),
    requests: Type.Array(
      Type.Object({
        at: Type.String({ description: 'When it began.' }),
        operation: Type.String(),
        entity: Type.String(),
        version: Type.Optional(Type.String()),
        ms: Type.Integer(),
        errorCode: Type.Optional(Type.String({ description: 'Present if the request failed as a whole.' })),
        matched: Type.Optional(Type.Integer()),
        modified: Type.Optional(Type.Integer()),
        returned: Type.Optional(Type.Integer()),
        query: Type.Optional(Type.String({ description: 'A filter in which ? stands for each literal.' })),
        sort: Type.Optional(Type.String()),
        index: Type.Optional(Type.String({ description: 'Fields of an index that fits the query.' })),
      }),
    ),
  }),
  name: 'SlowRequests',
  example: {
    overMs: 200,
    kept: 100,
    requests: [
      {
        at: '2026-11-17T18:20:03.118Z',
        operation: 'find',
        entity: 'country',
        version: '1.0.0',
        ms: 412,
        matched: 3,
        modified: 0,
        returned: 3,
        query: 'name ~ ?',
      },
    ],
  },
}
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
const HTML_TYPE = 'text/html; charset=utf-8'

export const ADMIN_ROUTES: readonly Route[] = [
  {
    ...admin('/', 'links', 'Where things are', LINKS, links),
    otherStatuses: { 302: 'A browser goes on to the page.' },
  },
  admin('/health', 'health', 'Whether the process is up', HEALTH, health),
  admin('/data/health', 'dataHealth', 'The same as /health', HEALTH, health),
  admin('/metadata/health', 'metadataHealth', 'The same as /health', HEALTH, health),
  {
    ...admin('/ready', 'ready', 'Whether stores and metadata are usable', READY, ready),
    unavailable: UNAVAILABLE,
    description: 'Asks the store at most once a second. Answers 503 with a `reason` when not ready.',
    errors: ['crud:Unavailable'],
  },
  admin('/version', 'version', 'What runs here', VERSIONS, version),
  {
    ...admin(
      '/metrics',
      'metrics',
      'Measurements for Prometheus',
      { shape: Type.String(), type: METRICS_TYPE },
      metrics,
    ),
    description: 'For anybody where the setting `metrics` is `public`.',
    access: 'authenticated',
  },
  {
    ...admin('/admin/backup', 'backup', 'Make a backup now', BACKUPS, makeBackup),
    method: 'POST',
    refusesKey: 'a backup changes nothing in the store; a repetition makes another one',
    access: 'backup.make',
    description:
      'Writes one file for each datasource into the directory of the setting `backup.directory`, and answers when they were read back.',
    errors: ['crud:NoAccess', 'crud:InvalidRequest', 'crud:Unavailable'],
  },
  {
    ...admin('/admin/slow-requests', 'slowRequests', 'List the newest slow requests', SLOW, slowRequests),
    access: 'requests.inspect',
    description:
      'Those of the process that answers which took at least `limits.slowRequestMs`; the one that ended last comes first. Queries are shown without their literals. Needs the permission `metadata.find` too.',
    errors: ['crud:NoAccess'],
  },
  admin('/openapi.json', 'openapi', 'This interface as an OpenAPI document', OPENAPI, openapi),
  admin('/docs', 'docs', 'This interface as a page to read', { shape: Type.String(), type: HTML_TYPE }, docs),
]

function admin(
  path: string,
  operationId: string,
  summary: string,
  reply: Content,
  handle: Route['handle'],
): Route {
  return { method: 'GET', path, operationId, tag: 'service', access: 'public', summary, reply, handle }
}

/** Browsers go on to the page; programs get the links. */
function links({ app, accept }: Call): Reply {
  const hasPage = app.ui() !== undefined
  const vary = ['Vary', 'Accept']
  if (hasPage && accepts(accept, 'text/html'))
    return { status: 302, text: '', type: HTML_TYPE, headers: ['Location', '/ui', ...vary] }
  const links = {
    ...(hasPage && { ui: '/ui' }),
    docs: '/docs',
    openapi: '/openapi.json',
    health: '/health',
    ready: '/ready',
    version: '/version',
  }
  const all = { ...links, metrics: '/metrics', metadata: '/metadata' }
  return { ...jsonReply({ name: NAME, version: VERSION, links: all }), headers: vary }
}

function health(): Reply {
  return { status: 200, text: '{"status":"up"}' }
}

async function ready({ app }: Call): Promise<Reply> {
  const { isReady, reason } = await app.isReady()
  if (isReady) return { status: 200, text: '{"status":"ready"}' }
  return { status: 503, text: JSON.stringify({ status: 'unavailable', reason }) }
}

function version(): Reply {
  return jsonReply({ name: NAME, version: VERSION, node: process.version })
}

async function metrics({ app }: Call): Promise<Reply> {
  return { status: 200, text: await app.metricsText(), type: METRICS_TYPE }
}

async function makeBackup({ app, caller }: Call): Promise<Reply> {
  return jsonReply(await app.service.backups.make(caller))
}

function slowRequests({ app, caller }: Call): Reply {
  return jsonReply(app.service.slow.list(caller))
}

function openapi({ app }: Call): Reply {
  return { status: 200, text: app.openapiText() }
}

function docs({ app }: Call): Reply {
  const { html, contentSecurityPolicy } = app.docsPage()
  return { status: 200, text: html, type: HTML_TYPE, contentSecurityPolicy }
}
