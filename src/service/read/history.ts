/** History: the versions of one document, oldest first, as they are visible to the caller now. */
import type { Caller } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json/json.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import { yieldEvery } from '../../base/work/yield-every.ts'
import { castValue } from '../../lang/resolve/checks.ts'
import { during, spendParsing } from '../../base/work/work.ts'
import { compileQuery } from '../../lang/evaluate/match.ts'
import { resolveField, rootScope } from '../../lang/resolve/scope.ts'
import { idTypeOf } from '../../plan/id-type.ts'
import { remainingProjection } from '../../plan/read.ts'
import { type HistoryVersion, printTimestamp } from '../../store/history.ts'
import { type Deps, boundsOf, pageBounds, workOf } from '../deps.ts'
import { resolveAndAuthorizeFind } from './plan-find.ts'
import { type Page, createPage } from './page.ts'
import { type FindRequest, readFind } from '../request/request.ts'
import { type DataResponse, type JsonText, complete } from '../response.ts'
import type { HistoryTarget } from '../service.ts'
import { readSimpleRequest } from '../request/query-parameters.ts'

/**
 * Access is that of a find by `_id`, checked for every version. A version that this find would not return is
 * omitted. So is a version that looks to the caller like the one listed before it, because only hidden fields
 * changed.
 */
export async function history(deps: Deps, caller: Caller, request: HistoryRequest): Promise<DataResponse> {
  const schema = deps.schemaOf(request.entity, request.version)
  // Before the query is resolved, which the caller did not write.
  const id = castValue(request.id, resolveField({ path: '_id', at: '/id' }, rootScope(schema)), '/id')
  const allowed = resolveAndAuthorizeFind(deps, caller, request)
  const isSeen = compileQuery(allowed.query!)
  const work = workOf(deps, request)
  const page = createPage(allowed, remainingProjection(allowed), pageBounds(deps, work))
  const { from, to = Infinity } = request.range
  const shown = { processed: [] as JsonText[], resultMetadata: [] as JsonText[] }
  let matchCount = 0
  const past = { collection: schema.collection, id, idType: idTypeOf(schema) }
  const store = deps.storeIn(schema.collection.datasource)
  const differs = visibleDifference(page)
  const rest = yieldEvery(SLICE_MS)
  for await (const version of store.readHistory(past, boundsOf(work, request))) {
    await rest()
    const isListed = during(work, () => isSeen({ value: parsed(version) }) && differs(version))
    if (!isListed) continue
    const index = matchCount++
    if (index < from || index > to) continue
    const { text, metadata } = during(work, () => entryOf(version, page))
    work.reserveResponse(text.length, tooLarge)
    shown.processed.push(text)
    shown.resultMetadata.push(metadata)
  }
  return complete(schema, { matchCount, ...shown })
}

function parsed({ document: { text } }: HistoryVersion): Json {
  spendParsing(text.length)
  return parseTrusted(text)
}

/** Yields to other requests at this interval. */
const SLICE_MS = 5

/**
 * Whether a version differs visibly from the one listed before. An insert and a delete always do. The version
 * number is left out of the comparison, because fields of the document may repeat it.
 */
function visibleDifference(page: Page): (version: HistoryVersion) => boolean {
  let listed: JsonText | undefined
  return ({ change, document }) => {
    if (change?.operation === 'delete') {
      listed = undefined
      return true
    }
    const visible = page.show({ ...document, version: 0 })
    const isNew = change?.operation === 'insert' || visible !== listed
    listed = visible
    return isNew
  }
}

interface HistoryRequest extends FindRequest {
  readonly id: string
}

export function readHistory(
  { id, ...target }: HistoryTarget,
  parameters: URLSearchParams,
  deps: Pick<Deps, 'limits' | 'now'>,
): HistoryRequest {
  const unknown = [...parameters.keys()].find((name) => !RANGE.has(name))
  if (unknown !== undefined) {
    const message = `there is no parameter "${unknown}"; known are ${[...RANGE].join(', ')}`
    throw new ServiceError('crud:InvalidRequest', message)
  }
  const query: JsonObject = { field: '_id', op: '=', rvalue: id }
  return { ...readFind({ ...readSimpleRequest(parameters), query }, target, deps), id }
}

const RANGE = new Set(['from', 'to', 'maxResults'])

/** For versions from before history was recorded, `change` is unknown and therefore absent. */
function entryOf({ version, change, document }: HistoryVersion, page: Page) {
  const metadata = page.metadataOf({ ...document, version })
  const facts = { date: printTimestamp(version), ...change }
  const head = `${metadata.slice(0, -1)},${JSON.stringify(facts).slice(1, -1)}`
  const isDeleted = change?.operation === 'delete'
  return { metadata, text: isDeleted ? `${head}}` : `${head},"document":${page.show(document)}}` }
}

function tooLarge(maxBytes: number): ServiceError {
  const message = `the result is larger than ${maxBytes} bytes; ask for fewer versions, by from and to`
  return new ServiceError('crud:ResultSizeTooLarge', message)
}
