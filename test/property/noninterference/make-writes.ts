/** Random writes, many of them close to what the caller may not see: around it, over it, and by its name. */
import { type Json, type JsonObject, isArray, isObject } from '../../../src/base/json/json.ts'
import type { Chance } from '../../support/chance.ts'
import { makeRequest } from '../agreement/make-requests.ts'
import { withPredefined } from '../agreement/model.ts'
import { makeUpdate } from '../agreement/update-requests.ts'
import { alikeNamed, makeDocument, makeValue, shownPart } from './make-documents.ts'
import { type Subject, makeSelection, viewOf } from './make-reads.ts'
import { type Way, pathsOf } from './make-world.ts'
import { makeReach, makeShown } from './reach.ts'
import { versionMark } from './request.ts'
import { textOf } from '../../support/service.ts'
import { isSecret, mayRead, visibilityOf } from './world.ts'

export function makeInsert(chance: Chance, subject: Subject): JsonObject {
  const data = Array.from({ length: 1 + chance.int(3) }, () =>
    makeSent(chance, subject, newName(chance, subject)),
  )
  return { data: data.length === 1 ? data[0]! : data, ...makeEcho(chance, subject), ...makeExecution(chance) }
}

export function makeSave(chance: Chance, subject: Subject): JsonObject {
  const upsert = chance.happens(50)
  // that a name is taken shows to everybody who creates documents
  const known = upsert ? { ...subject, pairs: alikeNamed(subject.pairs) } : subject
  const data = Array.from({ length: 1 + chance.int(3) }, () => makeSaved(chance, known))
  return {
    data,
    ...(upsert && { upsert }),
    ...makeEcho(chance, subject),
    ...makeExecution(chance),
    ...makeVersions(chance),
  }
}

export function makeChange(chance: Chance, subject: Subject): JsonObject {
  return {
    query: makeSelection(chance, subject),
    update: makeChanges(chance, subject),
    ...makeEcho(chance, subject),
    ...makeExecution(chance),
    ...makeVersions(chance),
    ...(chance.happens(10) && { range: [chance.int(3), chance.int(5)] }),
  }
}

export function makeRemoval(chance: Chance, subject: Subject): JsonObject {
  const { world, pairs } = subject
  const name = chance.pick(pairs).a['_id']!
  const one: JsonObject = { field: '_id', op: '=', rvalue: name }
  const query = chance.happens(70) && !isSecret(world, '_id') ? one : makeSelection(chance, subject)
  // few requests may empty the database, or the others had nothing to ask about
  const isAll = isArray(query['$and']) && query['$and'].length === 0
  return { query: isAll ? one : query, ...makeExecution(chance) }
}

function newName(chance: Chance, { pairs }: Subject): string | undefined {
  const kind = chance.int(100)
  if (kind < 15) return undefined
  // that a name is taken shows to everybody; where names are secret each side has others
  const known = alikeNamed(pairs)
  if (kind < 30 && known.length > 0) return textOf(chance.pick(known).a['_id'])
  return `n${chance.int(60)}`
}

/** A new document of what the caller may see, with or without something that they may not. */
function makeSent(chance: Chance, subject: Subject, name: string | undefined): JsonObject {
  const { world, version } = subject
  const whole = makeDocument(chance, world, name ?? '')
  const reach = chance.pick([0, 0, 0, 10, 100])
  const isShown = (path: string): boolean => mayRead(version, path, world) || chance.happens(reach)
  const { _id, ...members } = shownPart(whole, world.root, { isShown, at: '' }) as JsonObject
  return name === undefined ? members : { ...members, _id: name }
}

/** A document as it was read, changed a little, or a new one in its place. */
function makeSaved(chance: Chance, subject: Subject): JsonObject {
  const { world, version, pairs } = subject
  if (pairs.length === 0) return makeSent(chance, subject, newName(chance, subject))
  const { a } = chance.pick(pairs)
  const name = isSecret(world, '_id') ? `n${chance.int(60)}` : textOf(a['_id'])
  if (chance.happens(15)) return makeSent(chance, subject, newName(chance, subject))
  if (chance.happens(30)) return makeSent(chance, subject, name)
  const isShown = (path: string): boolean => mayRead(version, path, world)
  const read = shownPart(a, world.root, { isShown, at: '' }) as JsonObject
  const fresh = makeSent(chance, subject, name)
  const kept = Object.entries(read).filter(() => chance.happens(90))
  const changed = Object.entries(fresh).filter(() => chance.happens(20))
  const stirred = Object.fromEntries(kept.map(([key, value]) => [key, stir(chance, value)]))
  return { ...stirred, ...Object.fromEntries(changed), _id: name }
}

/** Elements go, come twice, or change places; members go. */
function stir(chance: Chance, value: Json): Json {
  if (chance.happens(60)) return value
  if (isArray(value) && value.length > 0) {
    const i = chance.int(value.length)
    const rest = value.toSpliced(i, 1)
    return chance.pick([
      rest,
      [...rest, value[i]!],
      [...value, value[i]!],
      value.with(i, stir(chance, value[i]!)),
    ])
  }
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(() => chance.happens(80))
      .map(([key, each]) => [key, stir(chance, each)]),
  )
}

function makeChanges(chance: Chance, subject: Subject): Json {
  const own = makeUpdate(chance, viewOf(chance, subject, 70))
  if (chance.happens(50)) return own
  const around = makeAround(chance, subject)
  if (!around) return own
  return chance.happens(70) ? around : [...around, ...(isArray(own) ? own : [own])]
}

/** What takes a container apart and puts it together again: all the same to those who do not see all of it. */
function makeAround(chance: Chance, subject: Subject): readonly Json[] | undefined {
  const { world, version } = subject
  const inSight = visibilityOf(world, version)
  const ways = [...pathsOf(inSight, '')].filter(
    ({ path, node }) => node.kind !== 'simple' && !path.includes('*') && !path.startsWith('_id'),
  )
  if (ways.length === 0) return undefined
  const way = chance.pick(ways)
  const { path, node } = way
  const value = (): Json => valueFor(chance, subject, way)
  // taken away as a whole, with what may not be changed in it
  if (chance.happens(20)) return [chance.pick<Json>([{ $unset: path }, { $set: { [path]: null } }])]
  if (node.kind === 'object') {
    const set = { $set: { [path]: value() } }
    return chance.pick([[set], [{ $unset: path }, set], [set, { $unset: path }], [{ $set: { [path]: {} } }]])
  }
  const elements = value()
  const first = isArray(elements) && elements.length > 0 ? elements[0]! : null
  return chance.pick([
    [{ $set: { [path]: elements } }],
    [{ $unset: path }, { $set: { [path]: elements } }],
    [{ $foreach: { [path]: '$all', $update: '$remove' } }, { $append: { [path]: elements } }],
    [{ $unset: `${path}.0` }, { $append: { [path]: first } }],
    [{ $unset: `${path}.${chance.pick([0, 1, -1])}` }],
    [{ $foreach: { [path]: '$all', $update: '$remove' } }],
    [{ $insert: { [`${path}.0`]: first } }, { $unset: `${path}.0` }],
    [{ $set: { [`${path}.0`]: first } }],
    [{ $set: { [`${path}.${chance.pick([1, 3, 5, -1, -3])}`]: first } }],
  ])
}

/** As it is stored in some document, as far as it is in sight, or a new one. */
function valueFor(chance: Chance, { world, version, pairs }: Subject, { path, node }: Way): Json {
  const isShown = (each: string): boolean => mayRead(version, each, world)
  const stored = path
    .split('.')
    .reduce<Json | undefined>(
      (value, step) => (isObject(value) ? value[step] : undefined),
      chance.pick(pairs).a,
    )
  const value =
    stored !== undefined && chance.happens(70) ? stored : makeValue(chance, world, { node, at: path })
  return shownPart(value, node, { isShown, at: path })
}

/** What the answer is to show of the documents that were written. */
function makeEcho(chance: Chance, subject: Subject): JsonObject {
  const kind = chance.int(100)
  if (kind < 20) return {}
  if (kind < 60) return { projection: { field: '*', recursive: true } }
  const reach = kind < 65 ? makeReach(chance, subject) : undefined
  if (reach) return { projection: makeShown(chance, reach) }
  const root = kind < 80 ? viewOf(chance, subject) : withPredefined(subject.world.root)
  return { projection: makeRequest(chance, root)['projection']! }
}

function makeExecution(chance: Chance): JsonObject {
  return chance.happens(12) ? { execution: { atomic: true } } : {}
}

function makeVersions(chance: Chance): JsonObject {
  if (!chance.happens(12)) return {}
  const versions = chance.list(6, () => (chance.happens(85) ? versionMark(chance.int(200)) : 'd07:1'))
  return { onlyIfCurrent: true, documentVersions: versions }
}
