/** An example receiver of webhooks: verifies the signature and processes each event once. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { type IncomingHttpHeaders, type IncomingMessage, type Server, createServer } from 'node:http'

interface CloudEvent {
  readonly id: string
  readonly type: string
  readonly source: string
  readonly subject?: string
  readonly data: Readonly<Record<string, unknown>>
}

const TOLERANCE_SECONDS = 5 * 60

/** Whether the request was signed with the secret, within the last minutes. */
export function isGenuine(headers: IncomingHttpHeaders, body: Buffer, secret: string): boolean {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const signatures = headers['webhook-signature']
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') return false
  const ageSeconds = Math.abs(Date.now() / 1000 - Number(timestamp))
  if (!(ageSeconds <= TOLERANCE_SECONDS)) return false
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
  // there can be several signatures while a secret is being rotated
  return signatures.split(' ').some((each) => {
    const [version, signature = ''] = each.split(',')
    const given = Buffer.from(signature, 'base64')
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
}

/** Calls `handle` once for each event; an event is acknowledged when `handle` succeeds. */
export function createReceiver(secret: string, handle: (event: CloudEvent) => Promise<void>): Server {
  // a real receiver stores the ids in its database, in the transaction of its own changes
  const handled = new Map<string, Promise<void>>()
  const once = (event: CloudEvent): Promise<void> => {
    // the event may be sent again while it is still being processed
    const handling = handled.get(event.id) ?? handle(event)
    handled.set(event.id, handling)
    return handling
  }
  const receive = async (request: IncomingMessage): Promise<number> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    if (!isGenuine(request.headers, body, secret)) return 401
    const event = JSON.parse(body.toString('utf8')) as CloudEvent
    try {
      await once(event)
      return 204
    } catch {
      // any status other than 2xx: the event will be sent again
      handled.delete(event.id)
      return 500
    }
  }
  return createServer((request, response) => {
    receive(request).then(
      (status) => response.writeHead(status).end(),
      () => response.writeHead(400).end(),
    )
  })
}
