/** Routes that only Lightblue has. */
import { ServiceError } from '../../base/errors.ts'
import { Type } from '../../base/json/shape.ts'
import { type Call, type Content, type Reply, type Route, JSON_TYPE } from '../routes/route.ts'
import { VERSION } from '../version.ts'

const HEALTH = Type.Object({
  healthy: Type.Boolean(),
  message: Type.Union([Type.String(), Type.Null()]),
})
const TEXT: Content = { shape: Type.String(), type: 'text/plain' }

export const LIGHTBLUE_ROUTES: readonly Route[] = [
  {
    ...open('/data/health', 'readHealth', 'Whether documents can be read'),
    reply: { shape: Type.Object({ readHealthCheck: HEALTH }), name: 'ReadHealth' },
    handle: (call) => healthReply(call, 'readHealthCheck'),
  },
  {
    ...open('/data/diagnostics', 'diagnostics', 'Whether the store can be used'),
    reply: { shape: Type.Object({ MongoCRUDController: HEALTH }), name: 'Diagnostics' },
    handle: (call) => healthReply(call, 'MongoCRUDController'),
  },
  ...['/data/version', '/metadata/version', '/metadata/health'].map((path): Route => ({
    ...open(
      path,
      path.slice(1).replace(/\/(.)/, (_, letter: string) => letter.toUpperCase()),
      'The version',
    ),
    reply: TEXT,
    handle: () => ({ status: 200, text: VERSION, type: 'text/plain; charset=utf-8' }),
  })),
  reindexRoute('/metadata/{entity}/reindex', 'reindex'),
  {
    ...reindexRoute('/metadata/{entity}/{version}/reindex', 'reindexVersion'),
    query: [{ name: 'Q', description: 'Which documents; the indexes of all of them are up to date anyway.' }],
  },
]

function open(
  path: string,
  operationId: string,
  summary: string,
): Pick<Route, 'method' | 'path' | 'operationId' | 'tag' | 'access' | 'summary'> {
  return { method: 'GET', path, operationId, tag: 'service', access: 'public', summary }
}

async function healthReply({ app }: Call, name: string): Promise<Reply> {
  const { isReady } = await app.isReady()
  const health = { healthy: isReady, message: isReady ? null : 'Reads are not healthy' }
  return { status: isReady ? 200 : 503, text: JSON.stringify({ [name]: health }) }
}

/** Every write keeps its indexes up to date, so there is nothing to rebuild. */
function reindexRoute(path: string, operationId: string): Route {
  return {
    method: 'POST',
    path,
    operationId,
    tag: 'service',
    access: 'metadata.update',
    summary: 'Accepted without effect: indexes are always up to date',
    reply: TEXT,
    errors: ['metadata:MissingEntityInfo'],
    handle: ({ app, caller, params: { entity = '' } }) => {
      // Whoever may change metadata may know which entities exist.
      const permissions = new Set([...caller.permissions, 'metadata.find' as const])
      const known = app.service.metadata.names({ ...caller, permissions }, undefined)
      const { entities } = known as { entities: readonly string[] }
      if (!entities.includes(entity))
        throw new ServiceError('metadata:MissingEntityInfo', `there is no entity "${entity}"`)
      return { status: 200, text: `Starting reindex of ${entity}`, type: JSON_TYPE }
    },
  }
}
