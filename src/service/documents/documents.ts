/**
 * Plain documents: one document by its `_id`, in the manner of REST. Every operation is one of the data operations, with
 * the same requests, the same access and the same writes.
 */
import type { Caller } from '../../access/caller.ts'
import { viewOf } from '../../access/view.ts'
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isObject, sameJson } from '../../base/json/json.ts'
import { during } from '../../base/work/work.ts'
import { parseProjection } from '../../lang/parse/parse-projection.ts'
import type { Named } from '../../lang/query.ts'
import type { Update } from '../../lang/update.ts'
import type { ObjectField, SimpleField } from '../../schema/field.ts'
import { type Deps, requestTimeOf } from '../deps.ts'
import { find } from '../read/find.ts'
import { type Reading, hasReferences, resolveReading } from '../read/resolve-request.ts'
import { readDelete, readFind, readInsert, readSave, readUpdate } from '../request/request.ts'
import type { DataResponse } from '../response.ts'
import type { Asked, DocumentReply, DocumentService, DocumentTarget, Target } from '../service.ts'
import { type Timed, noteIfSlow } from '../slow/timing.ts'
import { remove } from '../write/delete.ts'
import { insert } from '../write/insert.ts'
import { save } from '../write/save.ts'
import { update } from '../write/update.ts'
import {
  EVERYTHING,
  isPreferred,
  readFields,
  readFlag,
  readList,
  wantsNumbersAsText,
} from './document-parameters.ts'
import {
  type Returned,
  faultOf,
  firstOf,
  locationHeader,
  preconditionFailed,
  refusedReply,
  tagHeader,
  unknownDocument,
} from './document-reply.ts'
import { readTags } from './etag.ts'
import { type Condition, conditionOf, isMet, refuseNoneMatch } from './conditions.ts'
import { type MergeContext, mergeUpdate } from './merge-patch.ts'
import { plainText } from './plain-form.ts'

export function documentService(deps: Deps): DocumentService {
  const timed = timing(deps)
  return {
    list: (caller, target, asked) =>
      timed({ operation: 'listDocuments', target, body: () => readList(asked.parameters) }, () =>
        list({ deps, caller, target, asked }),
      ),
    get: (caller, target, asked) =>
      timed({ operation: 'getDocument', target }, () => get(naming({ deps, caller, target, asked }))),
    create: (caller, target, body, asked) =>
      timed({ operation: 'createDocument', target }, () => create({ deps, caller, target, asked }, body)),
    replace: (caller, target, body, asked) =>
      timed({ operation: 'replaceDocument', target }, () =>
        replace(naming({ deps, caller, target, asked }), body),
      ),
    patch: (caller, target, body, asked) =>
      timed({ operation: 'patchDocument', target }, () =>
        patch(naming({ deps, caller, target, asked }), body),
      ),
    remove: (caller, target, asked) =>
      timed({ operation: 'deleteDocument', target }, () =>
        removeOne(naming({ deps, caller, target, asked })),
      ),
  }
}

function timing(deps: Deps) {
  return async <T>(
    { operation, target, body = () => ({}) }: Pick<Timed, 'operation' | 'target'> & Partial<Timed>,
    run: () => Promise<T>,
  ): Promise<T> => {
    const timed = { startedMs: performance.now(), operation, target, body }
    try {
      const reply = await run()
      noteIfSlow(deps, timed, {})
      return reply
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      noteIfSlow(deps, timed, { errors: [error.toObject()] })
      const { entity, version } = target
      const within = `${operation}(${entity}${version === undefined ? '' : `:${version}`})`
      throw error.context === '' ? error : error.within(within)
    }
  }
}

interface Request {
  readonly deps: Deps
  readonly caller: Caller
  readonly target: Target
  readonly asked: Asked
}

interface Naming extends Request {
  readonly id: Json
  readonly query: JsonObject
}

/** An `_id` that does not have the type of its field names no document. */
function naming(request: Request & { readonly target: DocumentTarget }): Naming {
  const { deps, target } = request
  const { type } = deps.schemaOf(target.entity, target.version).root.fields.get('_id') as SimpleField
  const id = type.cast(target.id)
  if (id === undefined) throw unknownDocument()
  return { ...request, id, query: { field: '_id', op: '=', rvalue: id } }
}

/** Charges the request for what a later step does before its first wait. */
function charged<T>({ target: { work } }: Request, step: () => T): T {
  return work ? during(work, step) : step()
}

async function list(request: Request): Promise<DocumentReply> {
  const { deps, caller, target, asked } = request
  const body = readList(asked.parameters)
  const form = formOf(request)
  const { processed = [], matchCount, next } = await find(deps, caller, { target, body })
  const items = charged(request, () => {
    const root = shownRoot(request, () => readFind(body, target, deps))
    return processed.map((text) => plainText(text, root, form))
  })
  const total = readFlag(asked.parameters, 'count') ? `,"total":${matchCount}` : ''
  const more = next === undefined ? '' : `,"next":"${next}"`
  const text = `{"items":[${items.join(',')}]${more}${total}}`
  return { status: 200, text, headers: preferenceHeader(asked) }
}

async function get(request: Naming): Promise<DocumentReply> {
  const { asked } = request
  const tags = readTags(asked.ifNoneMatch, 'If-None-Match', true)
  const condition = conditionOf(asked)
  formOf(request)
  const fields = readFields(asked.parameters)
  const found = await findOne(request, fields)
  if (!found) throw unknownDocument()
  if (condition && !isMet(condition, found)) throw preconditionFailed()
  return charged(request, () => {
    const root = shownRoot(request, () => ({ projection: parseProjection(fields, '') }))
    // The version of the document does not change with the documents of references that are returned, too.
    const joinsOthers = root !== rootOf(request)
    const isKnown = tags && (tags.isAny || (tags.versions.includes(found.version) && !joinsOthers))
    if (isKnown) return { status: 304, text: '', headers: tagHeader(found) }
    return shown(request, found, { status: 200, root })
  })
}

function rootOf({ deps, target }: Request): ObjectField {
  return deps.schemaOf(target.entity, target.version).root
}

/** The fields of the documents that a find returns. Those of joined documents are in the version that the find uses. */
function shownRoot({ deps, target }: Request, readingOf: () => Omit<Reading, 'sort'>): ObjectField {
  const schema = deps.schemaOf(target.entity, target.version)
  if (!hasReferences(schema)) return schema.root
  const { query, projection } = readingOf()
  const resolved = resolveReading({ ...(query && { query }), projection, sort: [] }, schema, deps)
  return 'references' in resolved ? resolved.references.root : schema.root
}

async function findOne(request: Naming, projection: Json): Promise<Returned | undefined> {
  const { deps, caller, target, query } = request
  const body = { query, projection, range: [0, 0], execution: { count: 'none' } }
  return firstOf(await charged(request, () => find(deps, caller, { target, body })))
}

async function create(request: Request, body: Json | undefined): Promise<DocumentReply> {
  const { asked } = request
  formOf(request)
  if (asked.ifNoneMatch?.trim() !== '*') refuseNoneMatch(asked)
  // A document that does not exist yet has no version.
  if (conditionOf(asked)) throw preconditionFailed()
  return await insertOne(request, documentIn(body))
}

async function insertOne(request: Request, document: JsonObject): Promise<DocumentReply> {
  const { deps, caller, target } = request
  const sent = { data: [document], projection: EVERYTHING }
  const response = await charged(request, () => insert(deps, caller, readInsert(sent, target, deps)))
  const written = firstOf(response)
  if (faultOf(response) !== undefined || !written) return refusedReply(response, deps)
  return shown(request, written, { status: 201, headers: locationHeader(written, target) })
}

/** Saves the document, and inserts it where there is none and the request allows that. */
async function replace(request: Naming, body: Json | undefined): Promise<DocumentReply> {
  const { deps, caller, target, asked } = request
  const document = namedDocument(documentIn(body), request)
  formOf(request)
  const mayCreate = readFlag(asked.parameters, 'upsert')
  const condition = conditionOf(asked)
  if (asked.ifNoneMatch !== undefined) return await createOnly(request, document)
  if (condition?.isHopeless) throw await unmet(request, mayCreate)
  const sent = { data: [document], projection: EVERYTHING, ...condition?.versions }
  const saveOnce = (): Promise<DataResponse> =>
    charged(request, () => save(deps, caller, { ...readSave(sent, target, deps), byId: true }))
  for (let attempt = 1; ; attempt++) {
    const saved = await saveOnce()
    const fault = faultOf(saved)
    const written = firstOf(saved)
    if (fault === undefined && written) return shown(request, written, { status: 200 })
    if (fault === 'store-crud:ConcurrentUpdate') throw await unmet(request, mayCreate)
    if (fault !== 'store-crud:SaveError') return refusedReply(saved, deps)
    if (!mayCreate) throw await untouched(request, condition, '; with ?upsert=true it is created')
    if (condition) throw preconditionFailed()
    const inserted = await insertOne(request, document)
    // Another request may have inserted it meanwhile: then it can be saved.
    if (inserted.status !== 409 || attempt === MAX_ATTEMPTS) return inserted
  }
}

const MAX_ATTEMPTS = 3

async function createOnly(request: Naming, document: JsonObject): Promise<DocumentReply> {
  const { asked } = request
  if (asked.ifNoneMatch?.trim() !== '*' || asked.ifMatch !== undefined) refuseNoneMatch(asked)
  const inserted = await insertOne(request, document)
  if (inserted.status === 409 && (await findOne(request, ID))) throw preconditionFailed()
  return inserted
}

const ID: JsonObject = { field: '_id' }

async function patch(request: Naming, body: Json | undefined): Promise<DocumentReply> {
  const { deps, caller, target, asked, query } = request
  const { _id: given, ...changes } = documentIn(body)
  requireSameId(given, request)
  formOf(request)
  refuseNoneMatch(asked)
  const condition = conditionOf(asked)
  if (condition?.isHopeless) throw await unmet(request)
  for (let attempt = 1; ; attempt++) {
    const { steps, read } = await mergeWithCurrent(request, changes)
    const versions = read ? { documentVersions: [read.version] } : condition?.versions
    if (read && condition && !isMet(condition, read)) throw preconditionFailed()
    const sent = { query, update: [], projection: EVERYTHING, ...versions }
    const response = await charged(request, () =>
      update(deps, caller, { ...readUpdate(sent, target, deps), update: steps }),
    )
    const written = firstOf(response)
    if (faultOf(response) === undefined && written) return shown(request, written, { status: 200 })
    const isStale = faultOf(response) === 'store-crud:ConcurrentUpdate'
    if (!isStale && response.dataErrors?.length) return refusedReply(response, deps)
    if (!isStale) throw await untouched(request, condition)
    if (!read || condition) throw await unmet(request)
    if (attempt === MAX_PATCHES) return refusedReply(response, deps)
  }
}

/** The update that a merge patch stands for, and the current document if the update depends on it. */
async function mergeWithCurrent(
  request: Naming,
  changes: JsonObject,
): Promise<{ readonly steps: Update<Named>; readonly read: Returned | undefined }> {
  const { deps, caller, target, query } = request
  const schema = deps.schemaOf(target.entity, target.version)
  let read: Returned | undefined
  const context: MergeContext = {
    schema,
    isReadable: viewOf(schema)(caller).alwaysShows,
    charge: (step) => charged(request, step),
    now: requestTimeOf(deps, target.work),
    async read(merged) {
      // A value that the caller may not read cannot be merged into, and would be lost: to name it is refused.
      const named = merged.map((field) => ({ field, op: '=', rvalue: null }))
      const naming = merged.length > 0 ? { $and: [query, { $or: [{ $and: [] }, ...named] }] } : query
      read = await findOne({ ...request, query: naming }, EVERYTHING)
      if (!read) throw await untouched(request, undefined)
      return read.text
    },
  }
  const steps = await charged(request, () => mergeUpdate(changes, context))
  return { steps, read }
}

/** How often a patch that depends on the document is made anew after another write. */
const MAX_PATCHES = 10

async function removeOne(request: Naming): Promise<DocumentReply> {
  const { deps, caller, target, asked, query } = request
  refuseNoneMatch(asked)
  const condition = conditionOf(asked)
  if (condition?.isHopeless) throw await unmet(request)
  const sent = { query, ...condition?.versions }
  const response = await charged(request, () => remove(deps, caller, readDelete(sent, target, deps)))
  if (response.modifiedCount > 0) return { status: 204, text: '', headers: [] }
  throw await (faultOf(response) === undefined ? untouched(request, condition) : unmet(request))
}

/** Why a write that was to change a document changed none. */
async function unmet(request: Naming, mayCreate = false): Promise<ServiceError> {
  const isThere = (await findOne(request, ID)) !== undefined
  return isThere || mayCreate ? preconditionFailed() : unknownDocument()
}

/** Why a write selected no document: there is none, it has another version, or a row rule keeps the caller from it. */
async function untouched(
  request: Naming,
  condition: Condition | undefined,
  advice = '',
): Promise<ServiceError> {
  const found = await findOne(request, ID)
  if (!found) return unknownDocument(advice)
  if (condition && !isMet(condition, found)) return preconditionFailed()
  return new ServiceError('crud:NoAccess', 'you may read this document, but not change it in this way')
}

function documentIn(body: Json | undefined): JsonObject {
  if (isObject(body)) return body
  const message = 'the body must be one document, a JSON object; /data takes several documents in one request'
  throw new ServiceError('crud:InvalidRequest', message)
}

function namedDocument(document: JsonObject, request: Naming): JsonObject {
  const { _id: given, ...others } = document
  requireSameId(given, request)
  return { _id: request.id, ...others }
}

/** The `_id` in the body may be absent, or must name the document of the path. */
function requireSameId(given: Json | undefined, { deps, target, id }: Naming): void {
  if (given === undefined) return
  const { type } = deps.schemaOf(target.entity, target.version).root.fields.get('_id') as SimpleField
  if (given !== null && sameJson(type.cast(given), id)) return
  throw new ServiceError('crud:InvalidRequest', 'the path names another "_id" than the body', { at: '/_id' })
}

function formOf({ asked }: Request) {
  return { hasNumbersAsText: wantsNumbersAsText(asked) }
}

interface Shown {
  readonly status: number
  readonly headers?: readonly string[]
  /** The fields of the document; those of the schema when absent. */
  readonly root?: ObjectField
}

function shown(
  request: Request,
  returned: Returned,
  { status, headers = [], root = rootOf(request) }: Shown,
): DocumentReply {
  const text = plainText(returned.text, root, formOf(request))
  return { status, text, headers: [...tagHeader(returned), ...headers, ...preferenceHeader(request.asked)] }
}

function preferenceHeader({ prefer }: Asked): readonly string[] {
  return isPreferred(prefer) ? ['Preference-Applied', 'numbers=text'] : []
}
