/** A receiver of events as somebody would write one: takes what is signed, and each event once. */
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

/** Whether whoever has the secret sent this, and just now. */
export function isGenuine(headers: IncomingHttpHeaders, body: Buffer, secret: string): boolean {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const signatures = headers['webhook-signature']
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') return false
  const ageSeconds = Math.abs(Date.now() / 1000 - Number(timestamp))
  if (!(ageSeconds <= TOLERANCE_SECONDS)) return false
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
  // while a secret is replaced there may be several
  return signatures.split(' ').some((each) => {
    const [version, signature = ''] = each.split(',')
    const given = Buffer.from(signature, 'base64')
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
}

/** Calls `handle` once for each event; an event counts as received when that did not fail. */
export function createReceiver(secret: string, handle: (event: CloudEvent) => Promise<void>): Server {
  // a real one keeps ids in its database, and writes them together with what it does
  const handled = new Map<string, Promise<void>>()
  const once = (event: CloudEvent): Promise<void> => {
    // it may come again while it is still worked on
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
      // anything but 2xx: it will be sent again
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
