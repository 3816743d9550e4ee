/** What a difference looks like when it is as small as it gets: fewer clauses, then fewer documents. */
import { type Json, type JsonObject, isObject } from '../../../src/base/json/json.ts'
import { ADMIN } from '../../support/service.ts'
import type { ReferenceRequest } from './make-reference-requests.ts'
import { reductions } from './reductions.ts'
import { type Arena, arenaOf } from './references-arena.ts'
import { followedBy } from './reference-follow.ts'
import { type Entities, type Entity, printEntity } from './references-model.ts'
import { type Difference, type Tester, differenceOf } from './references-difference.ts'

interface Context {
  readonly arena: Arena
  /** Those who were asked. */
  readonly testers: readonly Tester[]
  readonly seed: number
}

/** The last line is a case for test/corpus/references-found.json, but for its name. */
export async function reported(
  request: ReferenceRequest,
  { arena, testers, seed }: Context,
): Promise<string> {
  const smallest = await withLessSaid(request, arena, testers)
  const poorest = await withFewerDocuments(smallest, arena, testers)
  const { ways, answers } =
    (await differenceOf(smallest, poorest, testers)) ?? (await difference(request, arena, testers))
  const { entities, documents } = poorest.holdings
  const found = {
    entities: Object.fromEntries(
      [...needed(smallest, entities).values()].map((entity) => [
        entity.name,
        { fields: printEntity(entity), documents: documents.get(entity.name)!.map(asSent) },
      ]),
    ),
    entity: smallest.entity,
    request: smallest.body,
  }
  return [
    `${ways.join(' and ')} differ; round ${seed}`,
    ...answers.map(
      ({ code, matchCount, documents: texts }, i) =>
        `${ways[i]}: ${code ?? ''} ${matchCount} ${texts.join('\n  ')}`,
    ),
    JSON.stringify(found),
  ].join('\n')
}

/** The entities that the request leads to, with the references that it follows. */
function needed({ entity, body }: ReferenceRequest, entities: Entities): ReadonlyMap<string, Entity> {
  const kept = new Map<string, Entity>()
  const followed = followedBy(body, entity, entities)
  const keep = (name: string, path: readonly string[]): void => {
    const { references, ...rest } = entities.get(name)!
    const mine = references.filter((each) => followed.has([...path, ...each.holder, each.name].join('.')))
    const known = kept.get(name)?.references ?? []
    kept.set(name, {
      ...rest,
      references: references.filter((each) => mine.includes(each) || known.includes(each)),
    })
    for (const each of mine) keep(each.entity, [...path, ...each.holder, each.name, '*'])
  }
  keep(entity, [])
  return kept
}

/** What makes two differences the same kind of difference. */
function codesOf({ answers }: Difference): string {
  return answers.map(({ code = '' }) => code).join()
}

async function difference(
  request: ReferenceRequest,
  arena: Arena,
  testers: readonly Tester[],
): Promise<Difference> {
  return (await differenceOf(request, arena, testers))!
}

async function withLessSaid(
  request: ReferenceRequest,
  arena: Arena,
  testers: readonly Tester[],
): Promise<ReferenceRequest> {
  const original = await difference(request, arena, testers)
  let best = request
  for (let improved = true; improved;) {
    improved = false
    for (const body of reductions(best.body)) {
      if (!isObject(body) || body['projection'] === undefined) continue
      const smaller = { ...best, body }
      const found = await differenceOf(smaller, arena, testers).catch(() => undefined)
      if (!found || codesOf(found) !== codesOf(original)) continue
      best = smaller
      improved = true
      break
    }
  }
  return best
}

async function withFewerDocuments(
  request: ReferenceRequest,
  arena: Arena,
  testers: readonly Tester[],
): Promise<Arena> {
  let best = arena
  for (const [entity, all] of arena.holdings.documents) {
    for (const document of all) {
      const { entities, documents } = best.holdings
      const rest = documents.get(entity)!.filter((each) => each['_id'] !== document['_id'])
      // Copies, as what they join has to be found out anew.
      const copied = new Map(
        [...documents].map(([name, list]) => [name, (name === entity ? rest : list).map(copyOf)]),
      )
      const poorer = arenaOf({ entities, documents: copied }, best.indexes)
      await remove(entity, document, testers)
      if (await differenceOf(request, poorer, testers).catch(() => undefined)) best = poorer
      else for (const { tester } of testers) await tester.store(entity, [asSent(document)])
    }
  }
  return best
}

function copyOf(document: JsonObject): JsonObject {
  return { ...document }
}

async function remove(entity: string, { _id }: JsonObject, testers: readonly Tester[]): Promise<void> {
  const body = { query: { field: '_id', op: '=', rvalue: _id! } }
  for (const { tester } of testers) await tester.service.data.delete(ADMIN, { entity }, body)
}

function asSent(document: JsonObject): JsonObject {
  const { objectType: _, ...rest } = document
  return withoutSizes(rest) as JsonObject
}

function withoutSizes(value: Json): Json {
  if (Array.isArray(value)) return value.map((each: Json) => withoutSizes(each))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !name.endsWith('#'))
      .map(([name, child]) => [name, withoutSizes(child)]),
  )
}
