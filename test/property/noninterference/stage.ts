/** One world on both sides: filled with the two halves of the pairs, then asked the same. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Json, type JsonObject, isObject } from '../../../src/base/json/json.ts'
import { rowsOf } from '../../support/postgres.ts'
import type { Answer } from '../../support/server.ts'
import { storeKind } from '../../support/store-kind.ts'
import type { Pair } from './make-documents.ts'
import { ROLES } from './make-world.ts'
import { type Mask, createMask } from './masks.ts'
import type { Request } from './request.ts'
import type { Side, Sides } from './sides.ts'
import { ENTITY, FILLING, PRINCIPAL, type World, printWorld } from './world.ts'

export interface Stage {
  /** What both sides answer, covered. */
  readonly ask: (request: Request) => Promise<Answers>
}

export interface Answers {
  readonly a: string
  readonly b: string
  readonly status: number
}

/** One entity with its documents. */
export interface Population {
  readonly world: World
  readonly pairs: readonly Pair[]
  /** What only one side holds, and the caller learns nothing of. */
  readonly unknown: { readonly a: readonly JsonObject[]; readonly b: readonly JsonObject[] }
}

/** The entity that most requests are about, and those that references lead to. */
export interface Scene extends Population {
  readonly others: readonly Population[]
  readonly searches: readonly JsonObject[]
}

export async function openStage(sides: Sides, scene: Scene): Promise<Stage> {
  const entity = sides.newEntity()
  sides.tick()
  const { searches } = scene
  const halvesOf = (side: 'a' | 'b'): readonly Held[] =>
    [scene, ...scene.others].map(({ world, pairs, unknown }) => {
      return { world, documents: [...pairs.map((pair) => pair[side]), ...unknown[side]] }
    })
  const [a, b] = await Promise.all([
    openHalf(sides.a, { entity, searches, held: halvesOf('a') }),
    openHalf(sides.b, { entity, searches, held: halvesOf('b') }),
  ])
  return {
    async ask(request) {
      sides.tick()
      const [one, other] = await Promise.all([a(request), b(request)])
      return { a: one.text, b: other.text, status: one.status }
    },
  }
}

interface Filling {
  readonly entity: string
  readonly held: readonly Held[]
  readonly searches: readonly JsonObject[]
}

interface Held {
  readonly world: World
  readonly documents: readonly JsonObject[]
}

type Half = (request: Request) => Promise<{ readonly text: string; readonly status: number }>

async function openHalf(side: Side, { entity, held, searches }: Filling): Promise<Half> {
  const put = async (address: string, body?: Json): Promise<void> => {
    const path = address.replaceAll(ENTITY, entity)
    const text = body === undefined ? undefined : JSON.stringify(body).replaceAll(ENTITY, entity)
    const roles = [...ROLES, 'admin']
    const answer = await side.ask('PUT', path, { roles, ...(text !== undefined && { body: text }) })
    // a unique value that is drawn twice is drawn twice on both sides
    const errors = answer.text.replaceAll('"errorCode":"store-crud:Duplicate"', '')
    assert.ok(answer.status === 200 && !errors.includes('"errorCode"'), `${path} ${text} ${answer.text}`)
  }
  for (const { world, documents } of held) {
    await put(`/metadata/${world.entity}/${FILLING}`, printWorld(world, undefined))
    if (documents.length > 0) await put(`/data/insert/${world.entity}`, { data: documents })
  }
  await put('/data/insert/savedSearch', { data: searches })
  for (const { world } of held.toReversed()) {
    for (const version of world.versions)
      await put(`/metadata/${world.entity}/${version.name}`, printWorld(world, version))
  }
  for (const { world } of held) await put(`/metadata/${world.entity}/${FILLING}/disabled`)
  const mask = createMask(entity, { hidesPlans: storeKind() === 'postgres' })
  return async (request) => {
    const { method, path, body, roles, headers } = request
    if (request.route === 'events' && storeKind() === 'postgres') await untilNumbered(side)
    const ask = (sent: Sent, by: readonly string[]): Promise<Answer> =>
      side.ask(sent.method ?? method, addressed(sent.path, entity, mask), {
        ...(sent.ticket === undefined && { roles: by }),
        headers: {
          'X-Request-Id': 'same',
          ...(sent.ticket === undefined && { 'Smalt-Principal': PRINCIPAL }),
          ...filledHeaders(headers, entity, mask),
        },
        ...(sent.body !== undefined && { body: filledIn(JSON.stringify(sent.body), entity, mask) }),
      })
    const first = { path, ...(body !== undefined && { body }) }
    const answers = request.byTicket ? await redeem(first, { ask, roles }) : [await ask(first, roles)]
    const after = paged(method, first)
    const pages = after ? await furtherPages(answers.at(-1)!, { first, after, ask, roles }) : []
    const text = mask.cover([...answers, ...pages].map(printAnswer).join('\n'))
    return { text, status: answers.at(-1)!.status }
  }
}

interface Sent {
  readonly path: string
  readonly body?: Json
  /** That of the request when absent. */
  readonly method?: string
  /** Is in the path, and the request has no other credentials. */
  readonly ticket?: string
}

interface Asking {
  readonly ask: (sent: Sent, roles: readonly string[]) => Promise<Answer>
  readonly roles: readonly string[]
}

/** Asks for a ticket, and then with it. */
async function redeem(sent: Sent, { ask, roles }: Asking): Promise<readonly Answer[]> {
  const [path] = sent.path.split('?')
  const issued = await ask({ method: 'POST', path: '/auth/ticket', body: { path: path! } }, roles)
  const ticket = /"ticket":"(t1\.[\w-]+)"/.exec(issued.text)?.[1]
  if (ticket === undefined) return [issued]
  return [issued, await ask({ ...sent, path: withParameter(sent.path, 'ticket', ticket), ticket }, roles)]
}

/** The same request for the page after a cursor; undefined if it asks for no page. */
function paged(method: string, sent: Sent): ((cursor: string) => Sent) | undefined {
  const { path, body } = sent
  if (method === 'GET' && /[?&]size=/.test(path))
    return (cursor) => ({ ...sent, path: withParameter(path, 'after', cursor) })
  const page = isObject(body) ? body['page'] : undefined
  if (!isObject(page)) return undefined
  return (cursor) => ({ ...sent, body: { ...(body as JsonObject), page: { ...page, after: cursor } } })
}

function withParameter(path: string, name: string, value: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${name}=${value}`
}

interface Following extends Asking {
  readonly first: Sent
  readonly after: (cursor: string) => Sent
}

/** The next two pages of a find, and the page after a cursor that a caller with every role took. */
async function furtherPages(
  answer: Answer,
  { first, after, ask, roles }: Following,
): Promise<readonly Answer[]> {
  const pages: Answer[] = []
  let next = cursorIn(answer)
  while (next !== undefined && pages.length < 2) {
    const page = await ask(after(next), roles)
    pages.push(page)
    next = cursorIn(page)
  }
  const foreign = cursorIn(await ask(first, [...ROLES, 'admin']))
  return [...pages, await ask(after(foreign ?? 'none'), roles)]
}

function cursorIn({ text }: Answer): string | undefined {
  return /"next":"([\w-]+)"/.exec(text)?.[1]
}

/** Where there is no event yet, from the beginning. */
function addressed(path: string, entity: string, { events }: Mask): string {
  return path
    .replaceAll(ENTITY, entity)
    .replaceAll(/@S(\d+)@/g, (_, n: string) => events[Number(n) % Math.max(events.length, 1)] ?? '')
}

/** PostgreSQL numbers events a moment after they were made; until then nobody can read them. */
async function untilNumbered({ location }: Side): Promise<void> {
  const isDue = (schema: string): string =>
    `select exists (select 1 from ${schema}.smalt_outbox where seq is null) or
      (select published < reserved from ${schema}.smalt_event_state) as "isDue"`
  for (let rows = await rowsOf(location, isDue); rows[0]!['isDue']; rows = await rowsOf(location, isDue))
    await sleep(10)
}

function filledHeaders(headers: Request['headers'] = {}, entity: string, mask: Mask): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, filledIn(value, entity, mask)]),
  )
}

function filledIn(text: string, entity: string, { versions }: Mask): string {
  return text
    .replaceAll(ENTITY, entity)
    .replaceAll(/@V(\d+)@/g, (_, n: string) => versions[Number(n) % Math.max(versions.length, 1)] ?? 'none:1')
}

/** All of it but when it was sent; lengths are those of texts that are not covered yet, and change with them. */
function printAnswer({ status, headers, text }: Answer): string {
  const { date: _date, 'content-length': _length, ...others } = headers
  return `${status} ${JSON.stringify(others)}\n${text}`
}
