/** Random requests over every route: which one, in which form, by whom. */
import { type Json, type JsonObject, isArray, isObject } from '../../../src/base/json/json.ts'
import { memoized } from '../../../src/base/memo.ts'
import type { Chance } from '../../support/chance.ts'
import { pickField } from '../agreement/make-requests.ts'
import { makeAggregate } from './make-aggregates.ts'
import { type Subject, makeExplained, makeFind, makeSimpleParameters, viewOf } from './make-reads.ts'
import { makePlainList, makePlainOne } from './make-plain.ts'
import { makeChange, makeInsert, makeRemoval, makeSave } from './make-writes.ts'
import { type Request, eventMark, versionMark } from './request.ts'
import { storeKind } from '../../support/store-kind.ts'
import { ENTITY, printWorld } from './world.ts'

type Asked = Omit<Request, 'roles'>
type Make = (chance: Chance, subject: Subject) => Asked

/** The `turn`-th request of all; of some kinds only where these are given. */
export function makeRequestFor(
  chance: Chance,
  scene: Pick<Subject, 'world' | 'pairs'> & { readonly others: readonly Pick<Subject, 'world' | 'pairs'>[] },
  { turn, kinds }: { readonly turn: number; readonly kinds?: readonly Kind[] },
): Request {
  const isRare = kinds === undefined && turn % RARE_EVERY === 0
  const all = [scene, ...scene.others]
  const { world, pairs } = isRare || chance.happens(75) ? scene : chance.pick(all)
  const worlds = all.map((each) => each.world)
  const subject = { world, worlds, pairs, version: chance.pick(world.versions) }
  const make = isRare ? RARE[(turn / RARE_EVERY) % RARE.length]! : chance.pick(choicesOf(kinds ?? ALL_KINDS))
  const asked = of(world.entity, make(chance, subject))
  // whoever has fewer roles may read no more
  const roles = chance.happens(88) ? world.roles : world.roles.filter(() => chance.happens(50))
  const byTicket = asked.method === 'GET' && chance.happens(15)
  return { ...asked, roles, ...(byTicket && { byTicket }) }
}

const RARE_EVERY = 10

/** The request with another entity in the place of the one that most requests are about; it alone has events. */
function of(entity: string, asked: Asked): Asked {
  if (entity === ENTITY || asked.route === 'events') return asked
  const body = asked.body === undefined ? undefined : renamed(asked.body, entity)
  return { ...asked, path: asked.path.replaceAll(ENTITY, entity), ...(body !== undefined && { body }) }
}

function renamed(value: Json, entity: string): Json {
  if (value === ENTITY) return entity
  if (isArray(value)) return value.map((each) => renamed(each, entity))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, renamed(each, entity)]))
}

type Op = 'find' | 'aggregate' | 'explain' | 'insert' | 'save' | 'update' | 'delete'

const BODIES: Readonly<Record<Op, (chance: Chance, subject: Subject) => JsonObject>> = {
  find: makeFind,
  aggregate: makeAggregate,
  explain: (chance, subject) =>
    chance.happens(20) ? makeAggregate(chance, subject) : makeExplained(chance, subject),
  insert: makeInsert,
  save: makeSave,
  update: makeChange,
  delete: makeRemoval,
}

/** With the version in the path, in the body, or the default one. */
function data(op: Op, method: string): Make {
  return (chance, subject) => {
    const { path, route, inBody } = addressed(chance, subject, { base: `/data/${op}/${ENTITY}`, route: op })
    const body = { ...BODIES[op](chance, subject), ...inBody }
    return { route, method, path, body }
  }
}

interface Address {
  readonly base: string
  readonly route: string
}

function addressed(chance: Chance, { version, world }: Subject, { base, route }: Address) {
  const prefix = chance.happens(5) ? '/rest' : ''
  if (chance.happens(60)) return { path: `${prefix}${base}/${version.name}`, route, inBody: {} }
  const isDefault = version === world.versions.at(-1) || chance.happens(20)
  const inBody = isDefault ? {} : { version: version.name }
  return { path: `${prefix}${base}`, route: `${route}Default`, inBody }
}

const streamed: Make = (chance, subject) => {
  const found = data('find', 'POST')(chance, subject)
  return chance.happens(50)
    ? { ...found, path: `${found.path}?stream=true` }
    : { ...found, headers: { Accept: 'application/x-ndjson' } }
}

function simple(op: 'find' | 'explain', route: string): Make {
  return (chance, subject) => {
    const address = addressed(chance, subject, { base: `/data/${op}/${ENTITY}`, route })
    return { ...get(address), path: `${address.path}?${makeSimpleParameters(chance, subject).toString()}` }
  }
}

const generate: Make = (chance, subject) => {
  const field = pickGenerated(chance, subject)
  const { path, route } = addressed(chance, subject, { base: `/data/generate/${ENTITY}`, route: 'generate' })
  return get({ path: `${path}/${encodeURIComponent(field)}?n=${1 + chance.int(3)}`, route })
}

/** Mostly a field whose values are made one after the other: what others drew shows in the next. */
function pickGenerated(chance: Chance, subject: Subject): string {
  const generated = [...subject.world.rules].filter(([, { generator }]) => generator).map(([path]) => path)
  if (generated.length > 0 && chance.happens(80)) return chance.pick(generated)
  return pickField(chance, [viewOf(chance, subject)], () => true)!.path
}

/** As of a moment at which some document was written. */
const lookingBack: Make = (chance, subject) => {
  const asked = data(chance.pick(['find', 'explain']), 'POST')(chance, subject)
  return { ...asked, body: { ...(asked.body as JsonObject), asOf: versionMark(chance.int(200)) } }
}

const history: Make = (chance, subject) => {
  const address = addressed(chance, subject, { base: `/data/history/${ENTITY}`, route: 'history' })
  const id = chance.pick(subject.pairs).a['_id']!
  const name = typeof id === 'string' ? id : JSON.stringify(id)
  const path = `${address.path}/${encodeURIComponent(name)}${chance.happens(30) ? '?from=1' : ''}`
  return get({ path, route: address.route })
}

const insertAlias: Make = (chance, subject) => {
  const address = addressed(chance, subject, { base: `/data/${ENTITY}`, route: 'insertAlias' })
  const { path, route, inBody } = address
  return { route, method: 'PUT', path, body: { ...makeInsert(chance, subject), ...inBody } }
}

function isWrite(op: Op | 'generate'): boolean {
  return op !== 'find' && op !== 'aggregate' && op !== 'explain' && op !== 'generate'
}

const bulk: Make = (chance, subject) => {
  const isWatched = storeKind() === 'postgres' && subject.world.hooks.length > 0
  const kind = chance.pick(['ordered', 'unordered', 'atomic'] as const)
  // side by side, writes would come in an order of their own on each side
  const ops: readonly (Op | 'generate')[] =
    kind === 'unordered'
      ? ['find', 'aggregate', 'explain']
      : ['find', 'aggregate', 'explain', 'insert', 'save', 'update', 'delete', 'generate']
  let writes = 0
  const requests = Array.from({ length: 1 + chance.int(4) }, (_, seq): JsonObject => {
    const drawn = chance.pick(ops)
    // PostgreSQL may number events of one moment at once or one by one, and orders them only where it is at once
    const isLate = kind === 'ordered' && isWatched && isWrite(drawn) && writes++ > 0
    const op = isLate ? 'find' : drawn
    const entity = { entity: ENTITY, ...(chance.happens(70) && { entityVersion: subject.version.name }) }
    const body = op === 'generate' ? { field: pickGenerated(chance, subject) } : BODIES[op](chance, subject)
    return { seq, op: chance.happens(50) ? op : op.toUpperCase(), request: { ...body, ...entity } }
  })
  const how = kind === 'ordered' ? {} : kind === 'unordered' ? { ordered: false } : { atomic: true }
  return { route: 'bulk', method: 'POST', path: '/data/bulk', body: { requests, ...how } }
}

const search: Make = (chance, subject) => {
  const isPost = chance.happens(50)
  const route = isPost ? 'search' : 'simpleSearch'
  const address = addressed(chance, subject, { base: `/data/search/${ENTITY}`, route })
  const overrides = makeSimpleParameters(chance, subject)
  overrides.delete('Q')
  if (chance.happens(60)) overrides.delete('P')
  if (chance.happens(60)) overrides.delete('S')
  const value = chance.pick(['a', 'b', '', '${value}', '*'])
  if (!isPost && chance.happens(60)) overrides.set('value', value)
  const path = `${address.path}/s${chance.int(5)}?${overrides.toString()}`
  if (!isPost) return get({ path, route: address.route })
  return { route: address.route, method: 'POST', path, ...(chance.happens(60) && { body: { value } }) }
}

const searches: Make = () => get({ path: `/data/search/${ENTITY}`, route: 'searches' })

/** From the oldest one, or from one that was received before; other worlds in the same database have other secrets. */
const events: Make = (chance) => {
  const parameters = [
    `entity=${ENTITY}`,
    ...(chance.happens(50) ? [`since=${eventMark(chance.int(30))}`] : []),
    ...(chance.happens(50) ? [`limit=${1 + chance.int(12)}`] : []),
    ...(chance.happens(15) ? [`hook=h${chance.int(2)}`] : []),
    ...(chance.happens(15) ? [`operation=${chance.pick(['insert', 'update', 'delete'])}`] : []),
  ]
  const asked = get({ path: `/events?${parameters.join('&')}`, route: 'events' })
  return chance.happens(20) ? { ...asked, headers: { Accept: 'application/x-ndjson' } } : asked
}

/** Open mode lets everybody read metadata; to change them is to decide who reads what, so nothing here does. */
const METADATA: readonly (readonly [route: string, path: string])[] = [
  ['entityNames', ''],
  ['entityNamesByStatus', '/s=active,deprecated'],
  ['roles', '/roles'],
  ['entityRoles', `/${ENTITY}/roles`],
  ['versionRoles', `/${ENTITY}/1.0.0/roles`],
  ['dependencies', '/dependencies'],
  ['entityDependencies', `/${ENTITY}/dependencies`],
  ['versionDependencies', `/${ENTITY}/1.0.0/dependencies`],
  ['entityVersions', `/${ENTITY}`],
  ['entityHistory', `/${ENTITY}/history`],
  ['defaultMetadata', `/${ENTITY}/default`],
  ['metadata', `/${ENTITY}/1.0.0`],
  ['entityAccess', `/${ENTITY}/access`],
  ['versionAccess', `/${ENTITY}/1.0.0/access`],
  ['entityLint', `/${ENTITY}/lint`],
  ['metadataDiff', `/${ENTITY}/1.0.0/diff/0.0.1`],
]

const SERVICE: readonly (readonly [route: string, path: string])[] = [
  ['links', '/'],
  ['health', '/health'],
  ['dataHealth', '/data/health'],
  ['metadataHealth', '/metadata/health'],
  ['ready', '/ready'],
  ['version', '/version'],
  ['openapi', '/openapi.json'],
  ['docs', '/docs'],
  ['ui', '/ui'],
  ['uiSettings', '/ui/settings'],
  ['guide', '/docs/guide'],
  ['guidePage', '/docs/guide/tutorial'],
  ['guideSectionPage', '/docs/guide/how-to/use-the-page'],
]

/** Changes of metadata that change nothing, or are refused. */
const CHANGES: readonly ((entityInfo: Json, schema: Json, version: string) => Asked)[] = [
  (info) => change('updateEntityInfo', 'PUT', ENTITY, info),
  (entityInfo, schema, version) =>
    change('createMetadata', 'PUT', `${ENTITY}/${version}`, { entityInfo, schema }),
  (entityInfo, schema) => ({
    ...change('createAllMetadata', 'PUT', '', [{ entityInfo, schema }]),
    path: '/metadata',
  }),
  (_, schema, version) => change('createSchema', 'PUT', `${ENTITY}/schema=${version}`, schema),
  (_, __, version) => change('setStatus', 'PUT', `${ENTITY}/${version}/active?comment=again`),
  (_, __, version) => change('setDefault', 'POST', `${ENTITY}/${version}/default`),
  () => change('removeEntity', 'DELETE', ENTITY),
  () => change('clearDefault', 'DELETE', `${ENTITY}none/default`),
]

function change(...[route, method, path, body]: [string, string, string, Json?]): Asked {
  return { route, method, path: `/metadata/${path}`, ...(body !== undefined && { body }) }
}

const LOCKS: readonly (readonly [route: string, method: string, tail: string])[] = [
  ['acquireLock', 'PUT', ''],
  ['countLock', 'GET', ''],
  ['pingLock', 'PUT', '/ping'],
  ['releaseLock', 'DELETE', ''],
]

const explainAccess: Make = (chance, { world }) => {
  const field = chance.pick([...world.root.fields.keys()])
  const body = {
    roles: [...world.roles],
    entity: ENTITY,
    field,
    op: chance.pick(['find', 'insert', 'update']),
  }
  return { route: 'explainAccess', method: 'POST', path: '/metadata/access/explain', body }
}

const issueTicket: Make = () => {
  const path = `/documents/${ENTITY}`
  return { route: 'issueTicket', method: 'POST', path: '/auth/ticket', body: { path } }
}

const lock: Make = (chance) => {
  const operation = chance.pick(['acquire', 'release', 'count', 'ping'])
  const body = { operation, domain: ENTITY, callerId: 'c', resourceId: 'x' }
  return { route: 'lock', method: 'POST', path: '/data/lock', body }
}

/** There is no sink: its effects would show at its receiver, and what it receives is made as events are. */
const SINKS: readonly (readonly [route: string, method: string, tail: string])[] = [
  ['createSink', 'POST', ''],
  ['sinks', 'GET', ''],
  ['sink', 'GET', '/s'],
  ['replaceSink', 'PUT', '/s'],
  ['removeSink', 'DELETE', '/s'],
  ['deadLetters', 'GET', '/s/dead'],
  ['redriveDeadLetters', 'POST', '/s/dead/redrive'],
  ['deadLetter', 'GET', '/s/dead/x'],
  ['redriveDeadLetter', 'POST', '/s/dead/x'],
  ['discardDeadLetter', 'DELETE', '/s/dead/x'],
]

/** Where documents play no part, or should not; each has its turn, since chance might forget some. */
const RARE: readonly Make[] = [
  ...METADATA.map(
    ([route, path]): Make =>
      () =>
        get({ path: `/metadata${path}`, route }),
  ),
  ...SERVICE.map(
    ([route, path]): Make =>
      () =>
        get({ path, route }),
  ),
  ...CHANGES.map((make): Make => (_, { world }) => {
    const last = world.versions.at(-1)!
    const { entityInfo, schema } = printWorld(world, last) as { entityInfo: Json; schema: Json }
    return make(entityInfo, schema, last.name)
  }),
  ...LOCKS.map(([route, method, tail]): Make => () => {
    return { route, method, path: `/data/lock/${ENTITY}/c/x${tail}` }
  }),
  ...SINKS.map(([route, method, tail]): Make => () => {
    const path = `/events/sinks${tail}`
    return route === 'createSink' || route === 'replaceSink'
      ? { route, method, path, body: {} }
      : { route, method, path }
  }),
  lock,
  explainAccess,
  issueTicket,
]

function get({ path, route }: { readonly path: string; readonly route: string }): Asked {
  return { route, method: 'GET', path }
}

/** How often each kind of request comes. */
const KINDS = {
  find: [40, data('find', 'POST')],
  stream: [10, streamed],
  simpleFind: [12, simple('find', 'simpleFind')],
  aggregate: [24, data('aggregate', 'POST')],
  explain: [24, data('explain', 'POST')],
  simpleExplain: [6, simple('explain', 'simpleExplain')],
  insert: [20, data('insert', 'PUT')],
  insertAlias: [4, insertAlias],
  save: [36, data('save', 'POST')],
  update: [60, data('update', 'POST')],
  delete: [5, data('delete', 'POST')],
  generate: [8, generate],
  bulk: [16, bulk],
  search: [12, search],
  searches: [2, searches],
  events: [24, events],
  lookingBack: [16, lookingBack],
  history: [12, history],
  plainList: [12, makePlainList],
  plainOne: [40, makePlainOne],
} as const satisfies Readonly<Record<string, readonly [weight: number, make: Make]>>

/** Kinds of requests about documents. */
export type Kind = keyof typeof KINDS

const ALL_KINDS = Object.keys(KINDS) as readonly Kind[]

const choicesOf = memoized((kinds: readonly Kind[]): readonly Make[] =>
  kinds.flatMap((kind) => {
    const [weight, make] = KINDS[kind]
    return Array.from({ length: weight }, () => make)
  }),
)
