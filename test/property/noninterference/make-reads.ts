/** Random reads, half of them of what the caller may see and half of them reaching for what they may not. */
import { type Json, type JsonObject, isNumber, isObject, numberText } from '../../../src/base/json/json.ts'
import { queryToFilter } from '../../../src/lang/text/spellings.ts'
import type { Chance } from '../../support/chance.ts'
import {
  makeLiteral,
  makeQuery,
  makeRange,
  makeRequest,
  makeSort,
  pickField,
} from '../agreement/make-requests.ts'
import { makeJoinedPath } from '../agreement/make-reference-requests.ts'
import { type ObjectNode, type Simple, familyOf, withPredefined } from '../agreement/model.ts'
import type { Pair } from './make-documents.ts'
import { type Reach, makeAsked, makeReach, makeShown } from './reach.ts'
import { ENTITY, type Version, type World, isSecret, secretsOf, visibilityOf } from './world.ts'

/** What requests are drawn from. */
export interface Subject {
  readonly world: World
  /** With those that references lead to. */
  readonly worlds: readonly World[]
  readonly pairs: readonly Pair[]
  readonly version: Version
}

/** The fields a request may name: those in sight, all of them, or those out of sight. */
export function viewOf(chance: Chance, { world, version }: Subject, percentInSight = 60): ObjectNode {
  if (chance.happens(percentInSight)) return withPredefined(visibilityOf(world, version))
  return withPredefined(chance.happens(50) ? world.root : secretsOf(world))
}

export function makeFind(chance: Chance, subject: Subject): JsonObject {
  const body = makePlainFind(chance, subject)
  return chance.happens(20) ? inText(body) : body
}

/** The same request with its query as text. */
function inText({ query, ...others }: JsonObject): JsonObject {
  return isObject(query) ? { ...others, filter: queryToFilter(query) } : others
}

function makePlainFind(chance: Chance, subject: Subject): JsonObject {
  const { range, from, to, maxResults, ...body } = makeOpenFind(chance, subject)
  if (chance.happens(25)) return { ...body, page: makePage(chance) }
  const bounds = Object.entries({ range, from, to, maxResults }).filter(([, bound]) => bound !== undefined)
  return { ...body, ...(Object.fromEntries(bounds) as JsonObject) }
}

/** The harness follows its cursor. */
function makePage(chance: Chance): JsonObject {
  return { size: 1 + chance.int(3), ...(chance.happens(30) && { count: true }) }
}

function makeOpenFind(chance: Chance, subject: Subject): JsonObject {
  const reach = chance.happens(55) ? makeReach(chance, subject) : undefined
  if (reach) return makeLeading(chance, subject, reach)
  const body = makeRequest(chance, viewOf(chance, subject))
  // naming a secret is refused as soon as a query does; the projection may always do it
  const projection = chance.happens(30)
    ? makeRequest(chance, viewOf(chance, subject, 0))['projection']!
    : undefined
  const isPlain = chance.happens(25)
  return {
    ...(isPlain ? { projection: { field: '*', recursive: true }, sort: body['sort'] ?? null } : body),
    ...(projection !== undefined && { projection }),
    // the shortest question about a secret is the one that a forgotten check would answer
    ...(chance.happens(15) && { query: makeQuery(chance, [secretsOf(subject.world)], 0) }),
    ...(chance.happens(15) && makeSearching(chance, subject)),
    ...(chance.happens(10) && { execution: { count: chance.pick(['exact', 'none']) } }),
  }
}

/** A text search, sometimes among other conditions, and sometimes by relevance. */
function makeSearching(chance: Chance, subject: Subject): JsonObject {
  const search = makeSearch(chance, subject)
  if (!search) return {}
  const other = chance.happens(40) ? [makeQuery(chance, [viewOf(chance, subject, 90)], 1)] : []
  const query = { [chance.pick(['$and', '$or'])]: [search, ...other] }
  return { query, ...(chance.happens(40) && { sort: { $score: chance.pick(['$asc', '$desc']) } }) }
}

function makeSearch(chance: Chance, { world }: Pick<Subject, 'world'>): JsonObject | undefined {
  const names = world.indexes.filter(({ kind }) => kind === 'text').map(({ name }) => name!)
  return names.length === 0 ? undefined : { text: chance.pick(SEARCHES), index: chance.pick(names) }
}

const SEARCHES = ['a', 'ab', 'a*', '-a', 'b -a', '"a b"', 's*', '😀', '-"a" -k*']

/** A query and a projection, or one of them, that lead on by references. */
function makeLeading(chance: Chance, subject: Subject, reach: Reach): JsonObject {
  const kind = chance.int(10)
  return {
    ...(kind < 6 && { query: makeAsked(chance, reach) }),
    projection: kind > 1 ? makeShown(chance, reach) : { field: '*', recursive: true },
    ...(chance.happens(45) && { sort: makeLeadingSort(chance, subject, reach) }),
    ...(chance.happens(25) && makeRange(chance)),
    ...(chance.happens(10) && { execution: { count: chance.pick(['exact', 'none']) } }),
  }
}

/** Keys of the document, and mostly one before them that leads on by references. */
function makeLeadingSort(chance: Chance, subject: Subject, { entities }: Reach): Json {
  const own = makeSort(chance, [viewOf(chance, subject, 90)])
  const path = chance.happens(65) ? makeJoinedPath(chance, subject.world.entity, entities) : undefined
  if (path === undefined) return own
  const key = { [path]: chance.pick(['$asc', '$desc']) }
  return chance.happens(60) ? key : [key, own].flat()
}

/** An explanation says little but how many match, so that more of them ask about secrets. */
export function makeExplained(chance: Chance, subject: Subject): JsonObject {
  const body = makeFind(chance, subject)
  if (chance.happens(50)) return body
  const reach = chance.happens(40) ? makeReach(chance, subject, 30) : undefined
  const search = chance.happens(20) ? makeSearch(chance, subject) : undefined
  const query =
    search ?? (reach ? makeAsked(chance, reach, 0) : makeQuery(chance, [secretsOf(subject.world)], 0))
  return { query, projection: { field: '*', recursive: true } }
}

/** All, some by name, or by a query over fields in sight or out of it. */
export function makeSelection(chance: Chance, subject: Subject): JsonObject {
  const { world, pairs } = subject
  const kind = chance.int(100)
  const reach = kind < 30 ? makeReach(chance, subject) : undefined
  if (reach) return makeAsked(chance, reach, 1)
  const search = kind < 35 ? makeSearch(chance, subject) : undefined
  if (search) return search
  if (kind < 45) return { $and: [] }
  if (kind < 65 && !isSecret(world, '_id')) {
    const names = Array.from({ length: 1 + chance.int(3) }, () => chance.pick(pairs).a['_id']!)
    return { field: '_id', op: '$in', values: names }
  }
  return makeQuery(chance, [viewOf(chance, subject, 70)], 1)
}

export function makeSimpleParameters(chance: Chance, subject: Subject): URLSearchParams {
  const root = viewOf(chance, subject)
  const reach = chance.happens(40) ? makeReach(chance, subject) : undefined
  const parameters = new URLSearchParams()
  const field = (from: ObjectNode) => pickField(chance, [from], (node) => familyOf(node) !== undefined)
  const [asked, sorted] = [field(reach?.asked ?? root), field(root)]
  const shown = pickField(chance, [reach?.shown ?? root], () => true)
  if (asked && chance.happens(80)) {
    const values = Array.from({ length: 1 + chance.int(2) }, () =>
      textOf(makeLiteral(chance, asked.node as Simple)),
    )
    parameters.set('Q', `${asked.path}:${values.join(',')}`)
  }
  if (shown && chance.happens(50)) parameters.set('P', `*:1r,${shown.path}:${chance.pick(['0', '1', '1r'])}`)
  if (sorted && chance.happens(50)) parameters.set('S', `${sorted.path}:${chance.pick(['a', 'd'])}`)
  if (chance.happens(20)) {
    parameters.set('size', String(1 + chance.int(3)))
    return parameters
  }
  if (chance.happens(30)) parameters.set('from', String(chance.int(3)))
  if (chance.happens(20)) parameters.set('maxResults', String(chance.int(6)))
  return parameters
}

function textOf(value: Json): string {
  if (isNumber(value)) return numberText(value)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Kept beside the documents by an administrator, in the form that they have as documents. */
export function makeSearches(chance: Chance, subject: Subject): readonly JsonObject[] {
  return ['s0', 's1', 's2', 's3'].map((name) => {
    const { query, projection, sort } = makePlainFind(chance, subject)
    const field = pickField(chance, [viewOf(chance, subject)], (node) => familyOf(node) === 'text')
    const byParameter = field && { field: field.path, op: '=', rvalue: '${value}' }
    return {
      _id: `${ENTITY}${name}`,
      name,
      entity: ENTITY,
      parameters: [{ name: 'value', type: 'string', optional: true, defaultValue: 'a' }],
      query: chance.happens(50) && byParameter ? byParameter : (query ?? { $and: [] }),
      projection: projection!,
      ...(sort !== undefined && sort !== null && { sort }),
    }
  })
}
