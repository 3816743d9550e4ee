/** Data operations by name: read the request, run it, and turn errors into the response document. */
import { ServiceError } from '../base/errors.ts'
import { during } from '../base/work/work.ts'
import type { Schema } from '../schema/schema.ts'
import type { StoreSession } from '../store/store.ts'
import { type Operations, type Transaction, bulk, elsewhere } from './bulk.ts'
import { remove } from './write/delete.ts'
import { type Deps, workOf } from './deps.ts'
import { explain } from './read/explain.ts'
import { find } from './read/find.ts'
import { generate, readCount, readGenerate } from './write/generate.ts'
import { history, readHistory } from './read/history.ts'
import { insert } from './write/insert.ts'
import { line } from './read/stream-line.ts'
import { lock } from './locks.ts'
import { precheck } from './precheck.ts'
import { readBulk } from './request/bulk-request.ts'
import { readDelete, readFind, readInsert, readSave, readUpdate } from './request/request.ts'
import { type DataResponse, failed } from './response.ts'
import { save } from './write/save.ts'
import { search, searches } from './search/saved-search.ts'
import { readOverrides, readSearch, readSimpleSearch } from './search/search-request.ts'
import { stream } from './read/stream.ts'
import type { DataService, Target } from './service.ts'
import { readSimpleRequest } from './request/query-parameters.ts'
import { update } from './write/update.ts'

export function dataService(deps: Deps): DataService {
  const { limits } = deps
  const operations = operationsOn(deps)
  const runner = {
    operations,
    datasourceOf: ({ entity, version }: Target) => deps.schemaOf(entity, version).collection.datasource,
    transact: <T>(
      { datasource, isReadOnly }: Transaction,
      work: (operations: Operations) => Promise<T>,
    ): Promise<T> => {
      const store = datasource === undefined ? deps.store : deps.storeIn(datasource)
      return store.transact(
        (session) => {
          const storeOf = ({ collection }: Schema): StoreSession => {
            if (deps.storeIn(collection.datasource) !== store) throw elsewhere()
            return session
          }
          return work(operationsOn({ ...deps, storeOf }))
        },
        { isReadOnly },
      )
    },
    onInternalError: deps.onInternalError,
  }
  return {
    find: (caller, target, body = {}) => operations.find(caller, target, body),
    stream: (caller, target, body = {}) =>
      answered('find', target, () => stream(deps, caller, readFind(body, target, limits))),
    explain: (caller, target, body = {}) => operations.explain(caller, target, body),
    insert: (caller, target, body = {}) => operations.insert(caller, target, body),
    save: (caller, target, body = {}) => operations.save(caller, target, body),
    update: (caller, target, body = {}) => operations.update(caller, target, body),
    delete: (caller, target, body = {}) => operations.delete(caller, target, body),
    simpleFind: (caller, target, parameters) =>
      answered('find', target, () => find(deps, caller, { target, body: readSimpleRequest(parameters) })),
    simpleExplain: (caller, target, parameters) =>
      answered('explain', target, () =>
        explain(deps, caller, readFind(readSimpleRequest(parameters), target, limits)),
      ),
    generate: (caller, target, field, n) =>
      answered('generate', target, () => generate(deps, caller, { ...target, field, count: readCount(n) })),
    history: (caller, target, parameters) =>
      answered('history', target, () => history(deps, caller, readHistory(target, parameters, deps))),
    search: (caller, target, body, overrides) =>
      answered('search', target, () => search(deps, caller, { target, ...readSearch(body, overrides) })),
    simpleSearch: (caller, target, parameters) =>
      answered('search', target, () => search(deps, caller, { target, ...readSimpleSearch(parameters) })),
    searches: (caller, target, parameters) =>
      answered('searches', target, () =>
        searches(deps, caller, { target, overrides: readOverrides(parameters) }),
      ),
    lock: (_caller, body) => lock(deps, body),
    bulk: async (caller, body, context = {}) => {
      const work = workOf(deps, context)
      const request = during(work, () => readBulk(body, limits.bulkRequests))
      return await bulk(runner, caller, { ...request, context: { ...context, work } })
    },
    precheck: (caller, target, operation) => precheck(deps, caller, { target, operation }),
    line: (caller, target, body = {}) => line(deps, caller, { target, body }),
  }
}

function operationsOn(deps: Deps): Operations {
  const { limits } = deps
  return {
    find: (caller, target, body) => answered('find', target, () => find(deps, caller, { target, body })),
    explain: (caller, target, body) =>
      answered('explain', target, () => explain(deps, caller, readFind(body, target, limits))),
    insert: (caller, target, body) =>
      answered('insert', target, () => insert(deps, caller, readInsert(body, target, limits))),
    save: (caller, target, body) =>
      answered('save', target, () => save(deps, caller, readSave(body, target, limits))),
    update: (caller, target, body) =>
      answered('update', target, () => update(deps, caller, readUpdate(body, target, limits))),
    delete: (caller, target, body) =>
      answered('delete', target, () => remove(deps, caller, readDelete(body, target, limits))),
    generate: (caller, target, body) =>
      answered('generate', target, () => generate(deps, caller, readGenerate(body, target))),
  }
}

/**
 * A ServiceError becomes the response of the request; any other error is internal and is rethrown. The
 * request is charged for all synchronous work until the operation first awaits; later work is charged where
 * it is done.
 */
async function answered<T>(
  operation: string,
  target: Target,
  run: () => Promise<T>,
): Promise<T | DataResponse> {
  try {
    return await (target.work ? during(target.work, run) : run())
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { entity, version } = target
    const context = `${operation}(${entity}${version === undefined ? '' : `:${version}`})`
    return failed(error.within(context), { entity, ...(version !== undefined && { entityVersion: version }) })
  }
}
