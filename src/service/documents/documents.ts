/**
 * Plain documents: one document by its `_id`, in the manner of REST. Every operation is one of the data operations, with
 * the same requests, the same access and the same writes.
 */
import { ServiceError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json/json.ts'
import { parseProjection } from '../../lang/parse/parse-projection.ts'
import type { Deps } from '../deps.ts'
import { find } from '../read/find.ts'
import { readDelete, readFind, readInsert, readSave } from '../request/request.ts'
import type { DataResponse } from '../response.ts'
import type { DocumentOptions, DocumentReply, DocumentService } from '../service.ts'
import { type Timed, noteIfSlow } from '../slow/timing.ts'
import { remove } from '../write/delete.ts'
import { insert } from '../write/insert.ts'
import { save } from '../write/save.ts'
import { conditionOf, isMet, refuseNoneMatch } from './conditions.ts'
import { EVERYTHING, readFields, readFlag, readList } from './document-parameters.ts'
import {
  alreadyThere,
  faultOf,
  firstOf,
  locationHeader,
  noVersionYet,
  preconditionFailed,
  refusedReply,
  tagHeader,
  unknownDocument,
} from './document-reply.ts'
import {
  ID,
  type Naming,
  type Request,
  charged,
  findOne,
  naming,
  requireSameId,
  rootOf,
  sentDocument,
  unmet,
  untouched,
} from './document-request.ts'
import { readTags } from './etag.ts'
import { patch } from './patch-document.ts'
import { plainText } from './plain-form.ts'
import { formOf, preferenceHeader, shown, shownRoot } from './show-document.ts'

export function documentService(deps: Deps): DocumentService {
  const timed = timing(deps)
  return {
    list: (caller, target, options) =>
      timed({ operation: 'listDocuments', target, body: () => readList(options.parameters) }, () =>
        list({ deps, caller, target, options }),
      ),
    get: (caller, target, options) =>
      timed({ operation: 'getDocument', target }, () => get(naming({ deps, caller, target, options }))),
    create: (caller, target, body, options) =>
      timed({ operation: 'createDocument', target }, () => create({ deps, caller, target, options }, body)),
    replace: (caller, target, body, options) =>
      timed({ operation: 'replaceDocument', target }, () =>
        replace(naming({ deps, caller, target, options }, mayCreate(options)), body),
      ),
    patch: (caller, target, body, options) =>
      timed({ operation: 'patchDocument', target }, () =>
        patch(naming({ deps, caller, target, options }), body),
      ),
    remove: (caller, target, options) =>
      timed({ operation: 'deleteDocument', target }, () =>
        removeOne(naming({ deps, caller, target, options })),
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

async function list(request: Request): Promise<DocumentReply> {
  const { deps, caller, target, options } = request
  const body = readList(options.parameters)
  const form = formOf(request)
  const { processed = [], matchCount, next } = await find(deps, caller, { target, body })
  const items = charged(request, () => {
    const root = shownRoot(request, () => readFind(body, target, deps))
    return processed.map((text) => plainText(text, root, form))
  })
  const total = readFlag(options.parameters, 'count') ? `,"total":${matchCount}` : ''
  const more = next === undefined ? '' : `,"next":"${next}"`
  const text = `{"items":[${items.join(',')}]${more}${total}}`
  return { status: 200, text, headers: preferenceHeader(options) }
}

async function get(request: Naming): Promise<DocumentReply> {
  const { options } = request
  const tags = readTags(options.ifNoneMatch, 'If-None-Match', true)
  const condition = conditionOf(options)
  formOf(request)
  const fields = readFields(options.parameters)
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

async function create(request: Request, body: Json | undefined): Promise<DocumentReply> {
  const { options } = request
  const document = sentDocument(body, request)
  if (options.ifNoneMatch?.trim() !== '*') refuseNoneMatch(options)
  if (conditionOf(options)) throw noVersionYet()
  return await insertOne(request, document)
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
  const { deps, caller, target, options } = request
  const document = namedDocument(sentDocument(body, request), request)
  const isUpsert = readFlag(options.parameters, 'upsert')
  const condition = conditionOf(options)
  if (options.ifNoneMatch !== undefined) return await createOnly(request, document)
  if (condition?.isHopeless) throw await unmet(request, isUpsert)
  const sent = { data: [document], projection: EVERYTHING, ...condition?.versions }
  const saveOnce = (): Promise<DataResponse> =>
    charged(request, () => save(deps, caller, { ...readSave(sent, target, deps), byId: true }))
  for (let attempt = 1; ; attempt++) {
    const saved = await saveOnce()
    const fault = faultOf(saved)
    const written = firstOf(saved)
    if (fault === undefined && written) return shown(request, written, { status: 200 })
    if (fault === 'store-crud:ConcurrentUpdate') throw await unmet(request, isUpsert)
    if (fault !== 'store-crud:SaveError') return refusedReply(saved, deps)
    if (!isUpsert) throw await untouched(request, condition, '; with ?upsert=true it is created')
    if (condition) throw noVersionYet()
    const inserted = await insertOne(request, document)
    // Another request may have inserted it meanwhile: then it can be saved.
    if (inserted.status !== 409 || attempt === MAX_ATTEMPTS) return inserted
  }
}

const MAX_ATTEMPTS = 3

function mayCreate({ parameters, ifNoneMatch }: DocumentOptions): boolean {
  return ifNoneMatch?.trim() === '*' || readFlag(parameters, 'upsert')
}

async function createOnly(request: Naming, document: JsonObject): Promise<DocumentReply> {
  const { options } = request
  if (options.ifNoneMatch?.trim() !== '*' || options.ifMatch !== undefined) refuseNoneMatch(options)
  const inserted = await insertOne(request, document)
  if (inserted.status === 409 && (await findOne(request, ID))) throw alreadyThere()
  return inserted
}

async function removeOne(request: Naming): Promise<DocumentReply> {
  const { deps, caller, target, options, query } = request
  refuseNoneMatch(options)
  const condition = conditionOf(options)
  if (condition?.isHopeless) throw await unmet(request)
  const sent = { query, ...condition?.versions }
  const response = await charged(request, () => remove(deps, caller, readDelete(sent, target, deps)))
  if (response.modifiedCount > 0) return { status: 204, text: '', headers: [] }
  throw await (faultOf(response) === undefined ? untouched(request, condition) : unmet(request))
}

function namedDocument(document: JsonObject, request: Naming): JsonObject {
  const { _id: given, ...others } = document
  requireSameId(given, request)
  return { _id: request.id, ...others }
}
