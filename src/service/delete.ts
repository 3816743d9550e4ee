/** Delete: every document that matches goes, in one transaction. */
import { authorizeDelete } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { resolveQuery } from '../lang/resolve.ts'
import { rootScope } from '../lang/scope.ts'
import { planDelete } from '../plan/write.ts'
import type { Report } from '../store/store.ts'
import { type Deps, boundsOf } from './deps.ts'
import type { DeleteRequest } from './request.ts'
import { type DataResponse, complete } from './response.ts'

export async function remove(deps: Deps, caller: Caller, request: DeleteRequest): Promise<DataResponse> {
  const schema = deps.schemaOf(request.entity, request.version)
  const query = resolveQuery(request.query, rootScope(schema))
  const plan = planDelete(authorizeDelete({ schema, query, atomic: request.atomic }, caller))
  let count = 0
  const begin = (): Report => {
    count = 0
    return () => count++
  }
  await deps.storeOf(schema).write(plan, begin, boundsOf(deps, request))
  return complete(schema, { modifiedCount: count, matchCount: count })
}
