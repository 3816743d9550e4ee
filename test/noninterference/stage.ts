/** One world on both sides: filled with the two halves of the pairs, then asked the same. */
import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../src/base/json.ts'
import type { Answer } from '../support/server.ts'
import { storeKind } from '../support/store-kind.ts'
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

export interface Scene {
  readonly world: World
  readonly pairs: readonly Pair[]
  /** What only one side holds, and the caller learns nothing of. */
  readonly unknown: { readonly a: readonly JsonObject[]; readonly b: readonly JsonObject[] }
  readonly searches: readonly JsonObject[]
}

export async function openStage(sides: Sides, { world, pairs, unknown, searches }: Scene): Promise<Stage> {
  const entity = sides.newEntity()
  sides.tick()
  const [a, b] = await Promise.all([
    openHalf(sides.a, { entity, world, searches, documents: [...pairs.map((pair) => pair.a), ...unknown.a] }),
    openHalf(sides.b, { entity, world, searches, documents: [...pairs.map((pair) => pair.b), ...unknown.b] }),
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
  readonly world: World
  readonly documents: readonly JsonObject[]
  readonly searches: readonly JsonObject[]
}

type Half = (request: Request) => Promise<{ readonly text: string; readonly status: number }>

async function openHalf(side: Side, { entity, world, documents, searches }: Filling): Promise<Half> {
  const put = async (path: string, body?: Json): Promise<void> => {
    const text = body === undefined ? undefined : JSON.stringify(body).replaceAll(ENTITY, entity)
    const roles = [...ROLES, 'admin']
    const answer = await side.ask('PUT', path, { roles, ...(text !== undefined && { body: text }) })
    // a unique value that is drawn twice is drawn twice on both sides
    const errors = answer.text.replaceAll('"errorCode":"store-crud:Duplicate"', '')
    assert.ok(answer.status === 200 && !errors.includes('"errorCode"'), `${path} ${text} ${answer.text}`)
  }
  await put(`/metadata/${entity}/${FILLING}`, printWorld(world, undefined))
  await put(`/data/insert/${entity}`, { data: documents })
  await put('/data/insert/savedSearch', { data: searches })
  for (const version of world.versions)
    await put(`/metadata/${entity}/${version.name}`, printWorld(world, version))
  await put(`/metadata/${entity}/${FILLING}/disabled`)
  const mask = createMask(entity, { hidesPlans: storeKind() === 'postgres' })
  return async (request) => {
    const { method, path, body, roles, headers } = request
    const answer = await side.ask(method, path.replaceAll(ENTITY, entity), {
      roles,
      headers: { 'X-Request-Id': 'same', 'Smalt-Principal': PRINCIPAL, ...headers },
      ...(body !== undefined && { body: filledIn(JSON.stringify(body), entity, mask) }),
    })
    return { text: mask.cover(printAnswer(answer)), status: answer.status }
  }
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
