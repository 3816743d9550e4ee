/** Data operations by name: read the request, run it, and turn errors into the response document. */
import { ServiceError } from '../base/errors.ts'
import type { Caller } from '../access/caller.ts'
import { type Json, member } from '../base/json/json.ts'
import { during } from '../base/work/work.ts'
import { otherDatasource } from './bulk/atomic-entries.ts'
import { bulk, bulkOnce } from './bulk/bulk.ts'
import type { KeyedBulkRunner, Operations } from './bulk/entries.ts'
import { remove } from './write/delete.ts'
import { type Deps, boundsIn, boundsOf, workOf } from './deps.ts'
import { dryDeps, dryRun } from './dry-run.ts'
import { aggregate, explainAggregate } from './read/aggregate.ts'
import { explain } from './read/explain.ts'
import { find } from './read/find.ts'
import { generate, readCount, readGenerate } from './write/generate.ts'
import { history, readHistory } from './read/history.ts'
import { insert } from './write/insert.ts'
import { line } from './read/stream-line.ts'
import { lock } from './locks.ts'
import { precheck } from './precheck.ts'
import { type Bulk, readBulk } from './request/bulk-request.ts'
import { NO_SCHEMA, inDialect } from './dialect.ts'
import { asksForDryRun, timeLimitIn } from './request/execution.ts'
import type { Envelope } from './request/envelope.ts'
import {
  isAggregate,
  readAggregate,
  readDelete,
  readFind,
  readInsert,
  readSave,
  readUpdate,
} from './request/request.ts'
import { type Answer, keyedRequestOf, runOnce } from './idempotency.ts'
import { keyedElsewhere, storeFor, within } from './keyed-session.ts'
import { type DataResponse, failed, httpStatusOf, printResponse } from './response.ts'
import { save } from './write/save.ts'
import { search, searches } from './search/saved-search.ts'
import { readOverrides, readSearch, readSimpleSearch } from './search/search-request.ts'
import { stream } from './read/stream.ts'
import { noteIfSlow } from './slow/timing.ts'
import type { DataService, OnceService, RequestContext, Target } from './service.ts'
import { readSimpleRequest } from './request/query-parameters.ts'
import { update } from './write/update.ts'

export function dataService(deps: Deps): DataService {
  const operations = operationsOn(deps)
  const answered = answering(deps)
  return {
    find: (caller, target, body = {}) => operations.find(caller, target, body),
    aggregate: (caller, target, body = {}) => operations.aggregate(caller, target, body),
    stream: (caller, target, body = {}) =>
      answered({ operation: 'find', target, body }, (request) =>
        stream(deps, caller, readFind(request, target, deps)),
      ),
    explain: (caller, target, body = {}) => operations.explain(caller, target, body),
    insert: (caller, target, body = {}) => operations.insert(caller, target, body),
    save: (caller, target, body = {}) => operations.save(caller, target, body),
    update: (caller, target, body = {}) => operations.update(caller, target, body),
    delete: (caller, target, body = {}) => operations.delete(caller, target, body),
    simpleFind: (caller, target, parameters) =>
      answered({ operation: 'find', target, read: () => readSimpleRequest(parameters) }, () => {
        const body = inDialect(deps, 'find', { target, body: readSimpleRequest(parameters) })
        return find(deps, caller, { target, body })
      }),
    simpleExplain: (caller, target, parameters) =>
      answered({ operation: 'explain', target }, () =>
        explain(deps, caller, readFind(readSimpleRequest(parameters), target, deps)),
      ),
    generate: (caller, target, field, n) =>
      answered({ operation: 'generate', target }, () =>
        generate(deps, caller, { ...target, field, count: readCount(n) }),
      ),
    history: (caller, target, parameters) =>
      answered({ operation: 'history', target }, () =>
        history(deps, caller, readHistory(target, parameters, deps)),
      ),
    search: (caller, target, body, overrides) =>
      answered({ operation: 'search', target }, () =>
        search(deps, caller, { target, ...readSearch(body, overrides) }),
      ),
    simpleSearch: (caller, target, parameters) =>
      answered({ operation: 'search', target }, () =>
        search(deps, caller, { target, ...readSimpleSearch(parameters) }),
      ),
    searches: (caller, target, parameters) =>
      answered({ operation: 'searches', target }, () =>
        searches(deps, caller, { target, overrides: readOverrides(parameters) }),
      ),
    lock: (caller, body, context = {}) => {
      const bounds = boundsOf(workOf(deps, context), context)
      return lock(deps, { caller, body: lockBody(deps, body), locks: deps.store.locks, bounds })
    },
    bulk: async (caller, body, context = {}) =>
      (await bulk(runnerOn(deps), caller, runningBulk(deps, body, context))).join(''),
    bulkInParts: async (caller, body, context = {}) =>
      await bulk(runnerOn(deps), caller, runningBulk(deps, body, context)),
    precheck: (caller, target, operation) => precheck(deps, caller, { target, operation }),
    line: (caller, target, body = {}) => line(deps, caller, { target, body }),
  }
}

/** Data operations with an idempotency key. */
export function dataOnce(deps: Deps): Pick<OnceService, 'data' | 'bulk' | 'lock'> {
  return {
    async data(caller, { operation, target: given, body = {} }, idempotency) {
      const execution = member(body, 'execution')
      // It may wait for its transaction, before the operation reads its time limit.
      const work = workOf(deps, { work: given.work, maxTimeMs: timeLimitIn(execution) })
      const target = { ...given, work }
      const run = async (operations: Operations): Promise<Answer> => {
        const response = await operations[operation](caller, target, body)
        return { status: httpStatusOf(response), text: printResponse(response) }
      }
      // A dry run writes nothing, so there is nothing to keep.
      const store = asksForDryRun(execution) ? undefined : storeFor(deps, target)
      // Without an entity there is nothing to write: the answer says so.
      if (!store) return { ...(await run(operationsOn(deps))), isRepeated: false }
      const keyedRequest = keyedRequestOf(idempotency, caller, target)
      try {
        return await runOnce({ ...deps, store }, keyedRequest, (session) =>
          run(operationsOn(within(deps, session, { store, refuse: keyedElsewhere }))),
        )
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        const response = await answering(deps)({ operation, target, body }, () => Promise.reject(error))
        return { status: httpStatusOf(response), text: printResponse(response), isRepeated: false }
      }
    },
    bulk: async (caller, body, context) =>
      await bulkOnce(runnerOn(deps), caller, runningBulk(deps, body, context)),
    lock: (caller, body, context) => {
      // The locks of the caller are counted when those that others acquire for it are committed.
      const keyedRequest = { ...keyedRequestOf(context.idempotency!, caller, context), seesLatest: true }
      return runOnce(deps, keyedRequest, async ({ bookkeeping: { locks } }) => {
        const result = await lock(deps, { caller, body: lockBody(deps, body), locks })
        return { status: 200, text: JSON.stringify({ result }) }
      })
    },
  }
}

function lockBody({ dialect }: Deps, body: Json | undefined): Json | undefined {
  return body && dialect.request('lock', body, NO_SCHEMA)
}

function runningBulk(deps: Deps, body: Json | undefined, context: RequestContext) {
  const work = workOf(deps, context)
  // Entries may run in several threads.
  work.requestTimeBy(deps.now)
  const read = (): Bulk =>
    readBulk(body && deps.dialect.request('bulk', body, NO_SCHEMA), deps.limits.bulkRequests)
  const running = { ...during(work, read), context: { ...context, work } }
  work.limitTimeTo(running.maxTimeMs ?? Infinity)
  return running
}

function runnerOn(deps: Deps): KeyedBulkRunner {
  const operationsIn: KeyedBulkRunner['operationsIn'] = (session, store) =>
    operationsOn(within(deps, session, { store, refuse: otherDatasource }))
  return {
    operations: operationsOn(deps),
    datasourceOf: ({ entity, version }: Target) => deps.schemaOf(entity, version).collection.datasource,
    transact: ({ datasource, isReadOnly, isDryRun = false, chargedTo, bounds }, work) => {
      const store = datasource === undefined ? deps.store : deps.storeIn(datasource)
      return store.transact(
        (session) =>
          work(isDryRun ? operationsOn(dryDeps(deps, session, store)) : operationsIn(session, store)),
        { isReadOnly: isReadOnly && !isDryRun, isDryRun, caller: chargedTo, bounds },
      )
    },
    operationsIn,
    once: dataOnce(deps).data,
    storeIn: (datasource) => (datasource === undefined ? deps.store : deps.storeIn(datasource)),
    limits: deps.limits,
    now: deps.now,
    onInternalError: deps.onInternalError,
    respond: (response: DataResponse) => deps.dialect.response('bulk', response, undefined),
  }
}

function operationsOn(deps: Deps): Operations {
  const answered = answering(deps)
  return {
    find: (caller, target, body) =>
      answered({ operation: 'find', target, body }, (request) =>
        find(deps, caller, { target, body: request }),
      ),
    aggregate: (caller, target, body) =>
      answered({ operation: 'aggregate', target, body }, (request) =>
        aggregate(deps, caller, readAggregate(request, target, deps)),
      ),
    explain: (caller, target, body) =>
      answered({ operation: 'explain', target, body }, (request) =>
        isAggregate(request)
          ? explainAggregate(deps, caller, readAggregate(request, target, deps))
          : explain(deps, caller, readFind(request, target, deps)),
      ),
    insert: (caller, target, body) =>
      answered({ operation: 'insert', target, body }, (request) =>
        writing(deps, caller, { request: readInsert(request, target, deps), write: insert }),
      ),
    save: (caller, target, body) =>
      answered({ operation: 'save', target, body }, (request) =>
        writing(deps, caller, { request: readSave(request, target, deps), write: save }),
      ),
    update: (caller, target, body) =>
      answered({ operation: 'update', target, body }, (request) =>
        writing(deps, caller, { request: readUpdate(request, target, deps), write: update }),
      ),
    delete: (caller, target, body) =>
      answered({ operation: 'delete', target, body }, (request) =>
        writing(deps, caller, { request: readDelete(request, target, deps), write: remove }),
      ),
    generate: (caller, target, body) =>
      answered({ operation: 'generate', target, body }, (request) =>
        generating(deps, caller, { target, request }),
      ),
  }
}

interface Writing<R extends Envelope> {
  readonly request: R
  readonly write: (deps: Deps, caller: Caller, request: R) => Promise<DataResponse>
}

function writing<R extends Envelope>(
  deps: Deps,
  caller: Caller,
  { request, write }: Writing<R>,
): Promise<DataResponse> {
  if (!request.isDryRun && !deps.isDryRun) return write(deps, caller, request)
  const schema = deps.schemaOf(request.entity, request.version)
  return dryRun(deps, { caller, schema, chargedTo: request.chargedTo, bounds: boundsIn(request) }, (each) =>
    write(each, caller, request),
  )
}

/** Values that a dry run shows stay in their sequence. */
function generating(
  deps: Deps,
  caller: Caller,
  { target, request }: { readonly target: Target; readonly request: Json },
): Promise<DataResponse> {
  const read = readGenerate(request, target)
  // An atomic bulk that is a dry run says so once for all of its entries.
  const isDry = deps.isDryRun || asksForDryRun(member(request, 'execution'))
  if (!isDry) return generate(deps, caller, read)
  const schema = deps.schemaOf(read.entity, read.version)
  return dryRun(deps, { caller, schema, chargedTo: read.chargedTo, bounds: boundsIn(target) }, (each) =>
    generate(each, caller, read),
  )
}

interface Answering {
  readonly operation: string
  readonly target: Target
  readonly body?: Json
  /** What the operation reads in place of a body; called for slow requests only. */
  readonly read?: () => Json
}

/**
 * A ServiceError becomes the response of the request; any other error is internal and is rethrown. The
 * request is charged for all synchronous work until the operation first awaits; later work is charged where
 * it is done.
 */
function answering(deps: Deps) {
  const { response } = deps.dialect
  return async <T extends DataResponse | AsyncIterable<string>>(
    { operation, target, body = {}, read }: Answering,
    run: (body: Json) => Promise<T>,
  ): Promise<T | DataResponse> => {
    let request = body
    const begin = (): Promise<T> => run((request = inDialect(deps, operation, { target, body })))
    const timed = { startedMs: performance.now(), operation, target, body: read ?? (() => request) }
    try {
      const answer = await (target.work ? during(target.work, begin) : begin())
      noteIfSlow(deps, timed, 'status' in answer ? answer : undefined)
      return 'status' in answer ? response(operation, answer, body) : answer
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      const { entity, version } = target
      const context = `${operation}(${entity}${version === undefined ? '' : `:${version}`})`
      const failure = failed(error.within(context), {
        entity,
        ...(version !== undefined && { entityVersion: version }),
      })
      noteIfSlow(deps, timed, failure)
      return response(operation, failure, body)
    }
  }
}
