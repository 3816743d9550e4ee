/** Routes of locks. The form with a body exists because ids may contain any character, such as a slash. */
import type { Code } from '../../../base/errors.ts'
import type { Json } from '../../../base/json/json.ts'
import { LockRequestShape, LockResponseShape } from '../../../service/request/data-shapes.ts'
import {
  type Call,
  type Content,
  type QueryParameter,
  type Reply,
  type Route,
  jsonReply,
  contextOf,
  onceReply,
} from '../route.ts'

/** Larger than three ids of the greatest length in any spelling. Anybody may send one, and the main thread parses it. */
const MAX_BODY_BYTES = 128 * 1024

const NOT_HELD: readonly Code[] = ['crud:InvalidLock']
const TOO_MANY: readonly Code[] = ['crud:LimitExceeded']

export const LOCK_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: '/data/lock',
    operationId: 'lock',
    tag: 'data',
    access: 'authenticated',
    summary: 'Acquire, release, count or ping a lock',
    maxBodyBytes: MAX_BODY_BYTES,
    body: {
      shape: LockRequestShape,
      name: 'LockRequest',
      example: { operation: 'acquire', domain: 'imports', callerId: 'worker-1', resourceId: 'countries.csv' },
    },
    reply: reply(true),
    errors: [...NOT_HELD, ...TOO_MANY],
    handle: (call) => locking(call, call.body),
  },
  {
    ...route('acquireLock', 'Acquire a lock'),
    method: 'PUT',
    description: 'False means that another caller holds it; nothing waits.',
    query: [ttl()],
    reply: reply(true),
    errors: TOO_MANY,
    handle: handling('acquire'),
  },
  {
    ...route('releaseLock', 'Release a lock'),
    method: 'DELETE',
    description: 'False means that the caller acquired it more often and still holds it.',
    reply: reply(true),
    errors: NOT_HELD,
    handle: handling('release'),
  },
  {
    ...route('countLock', 'Count how often a lock is held'),
    method: 'GET',
    reply: reply(1),
    errors: NOT_HELD,
    handle: handling('count'),
  },
  {
    ...route('pingLock', 'Keep a lock from expiring', '/ping'),
    method: 'PUT',
    reply: reply(true),
    errors: NOT_HELD,
    handle: handling('ping'),
  },
]

type Named = Pick<Route, 'path' | 'operationId' | 'operation' | 'tag' | 'access' | 'summary'>

function route(operationId: string, summary: string, tail = ''): Named {
  const path = `/data/lock/{domain}/{callerId}/{resourceId}${tail}`
  return { path, operationId, operation: 'lock', tag: 'data', access: 'authenticated', summary }
}

function handling(operation: string): Route['handle'] {
  return async (call: Call): Promise<Reply> => {
    const { params, search } = call
    const { domain = '', callerId = '', resourceId = '' } = params
    const ttl = operation === 'acquire' ? new URLSearchParams(search).get('ttl') : null
    const request = { operation, domain, callerId, resourceId, ...(ttl && { ttl }) }
    return await locking(call, request)
  }
}

async function locking(call: Call, request: Json | undefined): Promise<Reply> {
  const { app, caller, idempotency } = call
  const context = contextOf(call)
  if (idempotency) return onceReply(await app.service.once.lock(caller, request, context))
  return jsonReply({ result: await app.service.data.lock(caller, request, context) })
}

function reply(result: boolean | number): Content {
  return { shape: LockResponseShape, name: 'LockResponse', example: { result } }
}

function ttl(): QueryParameter {
  return {
    name: 'ttl',
    description: 'Milliseconds until the lock expires; an hour when absent.',
    example: '60000',
  }
}
