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
    const ask = (sent: Json | undefined, by: readonly string[]): Promise<Answer> =>
      side.ask(method, addressed(path, entity, mask), {
        roles: by,
        headers: {
          'X-Request-Id': 'same',
          'Smalt-Principal': PRINCIPAL,
          ...filledHeaders(headers, entity, mask),
        },
        ...(sent !== undefined && { body: filledIn(JSON.stringify(sent), entity, mask) }),
      })
    const answer = await ask(body, roles)
    const pages =
      isObject(body) && isObject(body['page']) ? await furtherPages(answer, body, { ask, roles }) : []
    return { text: mask.cover([answer, ...pages].map(printAnswer).join('\n')), status: answer.status }
  }
}

interface Asking {
  readonly ask: (body: Json, roles: readonly string[]) => Promise<Answer>
  readonly roles: readonly string[]
}

/** The next two pages of a find, and the page after a cursor that a caller with every role took. */
async function furtherPages(
  first: Answer,
  body: JsonObject,
  { ask, roles }: Asking,
): Promise<readonly Answer[]> {
  const after = (cursor: string): Json => ({
    ...body,
    page: { ...(body['page'] as JsonObject), after: cursor },
  })
  const pages: Answer[] = []
  let next = cursorIn(first)
  while (next !== undefined && pages.length < 2) {
    const page = await ask(after(next), roles)
    pages.push(page)
    next = cursorIn(page)
  }
  const foreign = cursorIn(await ask(body, [...ROLES, 'admin']))
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
