/** Servers that send events to this machine, and receivers of every character. */
import assert from 'node:assert/strict'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { DEFAULT_EVENT_KEEPING } from '../../../src/service/events/retention.ts'
import type { EventSettings } from '../../../src/service/sinks/sink-settings.ts'
import { isGenuine } from '../sinks/receiver-example.ts'
import { type Listening, SECRET, answering } from '../sinks/servers.ts'
import { type Answer, type TestServer, startTestServer } from '../../support/server.ts'
import { type Seen, change, defineSandwich, defineSecret, insert } from './events-kitchen.ts'

export { SECRET }

/** Receivers of the tests are on this machine. */
export const NEARBY: EventSettings = { ...DEFAULT_EVENT_KEEPING, allowPrivateAddresses: true }

export interface Taker extends Listening {
  /** What was taken, each once, in the order in which it came. */
  readonly taken: readonly Seen[]
  /** The bodies of those. */
  readonly bodies: readonly string[]
  /** How often it was asked. */
  readonly asked: () => number
}

type Misbehaviour = (response: ServerResponse, asked: number) => boolean

/** Takes what is signed; `misbehave` may answer in its place, and says so. */
export async function taker(misbehave: Misbehaviour = () => false): Promise<Taker> {
  const taken: Seen[] = []
  const bodies: string[] = []
  const ids = new Set<string>()
  let asked = 0
  const take = (request: IncomingMessage, response: ServerResponse, body: Buffer): void => {
    if (misbehave(response, ++asked)) return
    if (!isGenuine(request.headers, body, SECRET)) return void response.writeHead(401).end()
    const event: Seen = JSON.parse(body.toString())
    if (!ids.has(event.id)) {
      taken.push(event)
      bodies.push(body.toString())
    }
    ids.add(event.id)
    response.writeHead(204).end()
  }
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => take(request, response, Buffer.concat(chunks)))
  }
  return { ...(await answering(listener)), taken, bodies, asked: () => asked }
}

export function sinkTo(url: string, more: JsonObject = {}): JsonObject {
  return { name: 'kitchen', url, secret: SECRET, roles: ['cook'], ...more }
}

export async function addSink(server: TestServer, sink: JsonObject): Promise<Answer> {
  const answer = await server.ask('POST', '/events/sinks', { body: sink })
  assert.equal(answer.status, 200, answer.text)
  return answer
}

export async function sinkOf(server: TestServer, name = 'kitchen'): Promise<Seen> {
  return (await server.ask('GET', `/events/sinks/${name}`)).json
}

export async function eventually(claim: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 120_000
  while (!(await claim())) {
    assert.ok(performance.now() < deadline, `in vain: ${what}`)
    await sleep(20)
  }
}

export interface DeadLetters extends AsyncDisposable {
  readonly server: TestServer
  readonly receiver: Taker
  /** Of the dead letters. */
  readonly path: string
  readonly dead: () => Promise<readonly Seen[]>
  /** From here on the receiver takes what comes. */
  readonly recover: () => void
}

/** A sink with a dead letter for the insert of each of these sandwiches, behind which an update waits. */
export async function deadLetters(ids: readonly string[], topping = 'x'): Promise<DeadLetters> {
  await using opened = new AsyncDisposableStack()
  let isOut = true
  const misbehave: Misbehaviour = (response) => {
    if (isOut) response.writeHead(500).end()
    return isOut
  }
  const receiver = opened.use(await taker(misbehave))
  const server = opened.use(await startTestServer({ events: NEARBY, now: fastClock(20_000) }))
  await defineSandwich(server)
  await defineSecret(server)
  await addSink(server, sinkTo(receiver.url, { filter: { entity: 'sandwich' } }))
  for (const id of ids) {
    await insert(server, 'sandwich', { _id: id, name: id, price: 77_777, toppings: [topping] })
    await change(server, 'sandwich', id, { $append: { toppings: 'y' } })
  }
  const path = '/events/sinks/kitchen/dead'
  const dead = async (): Promise<readonly Seen[]> => (await server.ask('GET', path)).json.dead
  await eventually(async () => {
    // whatever happens makes it look at its clock
    await insert(server, 'secret', { open: 'o' })
    const letters = await dead()
    // the update may be numbered after the last attempt to send the insert
    return letters.length === ids.length && letters.every(({ held }) => held === 1)
  }, 'all have a dead letter, and an update behind it')
  const owned = opened.move()
  const recover = (): void => void (isOut = false)
  return { server, receiver, path, dead, recover, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** A clock that runs so much faster, from now on. */
function fastClock(times: number): () => Date {
  const began = Date.now()
  return () => new Date(began + (Date.now() - began) * times)
}
