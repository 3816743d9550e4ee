/** Random requests for plain documents: lists, and one document by its name. */
import { type Json, type JsonObject, isObject } from '../../../src/base/json/json.ts'
import { queryToFilter } from '../../../src/lang/text/spellings.ts'
import type { Chance } from '../../support/chance.ts'
import { makeQuery, pickField } from '../agreement/make-requests.ts'
import { familyOf } from '../agreement/model.ts'
import { alikeNamed } from './make-documents.ts'
import { type Subject, viewOf } from './make-reads.ts'
import { makeSave, makeInsert } from './make-writes.ts'
import { type Request, versionMark } from './request.ts'
import { ENTITY, isSecret } from './world.ts'

type Asked = Omit<Request, 'roles'>

export function makePlainList(chance: Chance, subject: Subject): Asked {
  const parameters = versioned(chance, subject)
  if (chance.happens(70)) {
    parameters.set('filter', queryToFilter(makeQuery(chance, [viewOf(chance, subject, 70)], 1)))
  }
  const sorted = pickField(chance, [viewOf(chance, subject, 80)], (node) => familyOf(node) !== undefined)
  if (sorted && chance.happens(50)) parameters.set('sort', `${chance.pick(['', '-'])}${sorted.path}`)
  if (chance.happens(40)) parameters.set('fields', fieldsOf(chance, subject))
  if (chance.happens(40)) parameters.set('size', String(1 + chance.int(5)))
  if (chance.happens(50)) parameters.set('count', 'true')
  return { route: 'listDocuments', method: 'GET', path: `/documents/${ENTITY}?${parameters.toString()}` }
}

export function makePlainOne(chance: Chance, subject: Subject): Asked {
  const parameters = versioned(chance, subject)
  const method = chance.pick([
    'GET',
    'GET',
    'PUT',
    'PUT',
    'PATCH',
    'PATCH',
    'PATCH',
    'DELETE',
    'POST',
  ] as const)
  const upsert = method === 'PUT' && chance.happens(40)
  if (upsert) parameters.set('upsert', 'true')
  // that a name is taken shows to everybody who creates documents
  const known = upsert ? { ...subject, pairs: alikeNamed(subject.pairs) } : subject
  const made = method === 'POST' ? makeInsert(chance, subject) : makeSave(chance, known)
  const [document] = [made['data']!].flat() as readonly JsonObject[]
  const name = method === 'POST' ? '' : `/${encodeURIComponent(nameOf(chance, known, document!))}`
  if (method === 'GET' && chance.happens(40)) parameters.set('fields', fieldsOf(chance, subject))
  const body = method === 'PATCH' ? patchOf(chance, document!) : document!
  const condition = method === 'GET' ? 'If-None-Match' : 'If-Match'
  const tag = chance.happens(80) ? `"${versionMark(chance.int(200))}"` : '*'
  return {
    route: ROUTES[method],
    method,
    path: `/documents/${ENTITY}${name}?${parameters.toString()}`,
    ...(method !== 'GET' && method !== 'DELETE' && { body }),
    ...(method !== 'POST' && chance.happens(35) && { headers: { [condition]: tag } }),
  }
}

const ROUTES = {
  GET: 'getDocument',
  PUT: 'replaceDocument',
  PATCH: 'patchDocument',
  DELETE: 'deleteDocument',
  POST: 'createDocument',
}

function versioned(chance: Chance, { version }: Subject): URLSearchParams {
  const parameters = new URLSearchParams()
  if (chance.happens(70)) parameters.set('version', version.name)
  if (chance.happens(20)) parameters.set('numbers', 'text')
  return parameters
}

function fieldsOf(chance: Chance, subject: Subject): string {
  const picked = Array.from({ length: 1 + chance.int(3) }, () =>
    pickField(chance, [viewOf(chance, subject)], () => true),
  )
  return picked.map((each) => each?.path ?? '_id').join(',')
}

/** Mostly the name that the document has; where names are secret each side has others. */
function nameOf(chance: Chance, { world, pairs }: Subject, { _id }: JsonObject): string {
  const isUnknown = isSecret(world, '_id') || pairs.length === 0
  const known = isUnknown ? `n${chance.int(60)}` : chance.pick(pairs).a['_id']!
  const name = chance.happens(60) ? (_id ?? known) : known
  return typeof name === 'string' ? name : JSON.stringify(name)
}

/** Some members of the document, some of them taken away. */
function patchOf(chance: Chance, { _id, ...members }: JsonObject): JsonObject {
  const change = (value: Json): Json => {
    if (chance.happens(20)) return null
    return isObject(value) ? some(value) : value
  }
  const some = (object: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(object)
        .filter(() => chance.happens(60))
        .map(([name, value]) => [name, change(value)]),
    )
  return some(members)
}
