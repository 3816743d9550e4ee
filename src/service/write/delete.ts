/** Delete: removes every document that matches, in one transaction. */
import { authorizeDelete } from '../../access/authorize.ts'
import type { Caller } from '../../access/caller.ts'
import { planDelete } from '../../plan/write.ts'
import type { Report } from '../../store/store.ts'
import { type Deps, boundsOf, workOf } from '../deps.ts'
import { resolveSelection } from '../read/resolve-request.ts'
import type { DeleteRequest } from '../request/request.ts'
import { type DataResponse, complete } from '../response.ts'
import { selectFirst } from './select-first.ts'
import { watched } from './outbox-entries.ts'

export async function remove(deps: Deps, caller: Caller, request: DeleteRequest): Promise<DataResponse> {
  const schema = deps.schemaOf(request.entity, request.version)
  const query = resolveSelection(request.query, schema, deps)
  const allowed = authorizeDelete({ schema, query, atomic: request.atomic }, caller)
  const work = workOf(deps, request)
  const bounds = boundsOf(work, request)
  const plan = await selectFirst(planDelete(allowed), schema, { deps, bounds })
  let count = 0
  // A store may retry the write, so every attempt starts with a new count.
  const begin = (): Report => {
    count = 0
    return () => count++
  }
  await deps.storeOf(schema).write(watched(plan, schema, { deps, caller, work }), begin, bounds)
  return complete(schema, { modifiedCount: count, matchCount: count })
}
