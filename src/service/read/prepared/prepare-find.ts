/** Makes the plan that all finds of a shape share: parameters replace the literals before names are resolved. */
import type { Caller } from '../../../access/caller.ts'
import type { Json } from '../../../base/json/json.ts'
import { parameterized } from '../../../lang/parameters.ts'
import type { Deps } from '../../deps.ts'
import { readFind } from '../../request/request.ts'
import type { Target } from '../../service.ts'
import { sharedRenderer } from '../page.ts'
import { planFindRequest } from '../plan-find.ts'
import { type PreparedFind, preparedFrom } from './bind-find.ts'
import { preparedOnce } from './prepared-finds.ts'
import type { QueryShape } from './query-shape.ts'

interface Shaped {
  readonly target: Target
  readonly body: Json
  readonly shape: QueryShape
}

/** Undefined if the request has to be planned on its own. */
export function prepareFind(
  deps: Deps,
  caller: Caller,
  { target, body, shape }: Shaped,
): PreparedFind | undefined {
  const key = `${JSON.stringify([target.entity, target.version])}${shape.key}`
  return preparedOnce({ metadata: deps.metadata(), caller, key }, () => {
    const request = readFind(body, target, deps)
    const { query, literals } = request.query ? parameterized(request.query) : EVERYTHING
    // Both lists follow the order of the query. A literal that the shape does not contain cannot be bound.
    if (!isSameList(literals, shape.literals)) return undefined
    const find = { ...request, ...(query && { query }) }
    const planned = planFindRequest(deps, caller, find)
    const renderer = sharedRenderer(planned.allowed, planned.plan, deps.secret())
    return preparedFrom({ ...planned, renderer }, literals.length)
  })
}

/** Without a query there are no literals. */
const EVERYTHING = { query: undefined, literals: [] }

function isSameList(a: readonly Json[], b: readonly Json[]): boolean {
  return a.length === b.length && a.every((each, i) => each === b[i])
}
