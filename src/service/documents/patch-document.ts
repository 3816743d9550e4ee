/** PATCH: a merge patch as an update, repeated where it depends on a document that others change meanwhile. */
import { viewOf } from '../../access/view.ts'
import type { Json, JsonObject } from '../../base/json/json.ts'
import type { Named } from '../../lang/query.ts'
import type { Update } from '../../lang/update.ts'
import { requestTimeOf } from '../deps.ts'
import { readUpdate } from '../request/request.ts'
import type { DocumentReply } from '../service.ts'
import { update } from '../write/update.ts'
import { conditionOf, isMet, refuseNoneMatch } from './conditions.ts'
import { EVERYTHING } from './document-parameters.ts'
import { type Returned, faultOf, firstOf, preconditionFailed, refusedReply } from './document-reply.ts'
import {
  type Naming,
  charged,
  findOne,
  requireSameId,
  sentDocument,
  unmet,
  untouched,
} from './document-request.ts'
import { type MergeContext, mergeUpdate } from './merge-patch.ts'
import { shown } from './show-document.ts'

export async function patch(request: Naming, body: Json | undefined): Promise<DocumentReply> {
  const { deps, caller, target, options, query } = request
  const { _id: given, ...changes } = sentDocument(body, request)
  requireSameId(given, request)
  refuseNoneMatch(options)
  const condition = conditionOf(options)
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
