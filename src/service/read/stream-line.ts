/** Renders one document of a find as a line of its stream, for documents that are too much for the main thread. */
import type { Caller } from '../../access/caller.ts'
import { type Json, isObject } from '../../base/json/json.ts'
import { during } from '../../base/work/work.ts'
import { allOf } from '../../lang/query.ts'
import { castValue } from '../../lang/resolve/checks.ts'
import { resolveField, rootScope } from '../../lang/resolve/scope.ts'
import { planFind } from '../../plan/read.ts'
import { type Deps, boundsOf, pageBounds, workOf } from '../deps.ts'
import { resolveAndAuthorizeFind } from './plan-find.ts'
import { createPage } from './page.ts'
import { isInStatement, readPage } from './read-page.ts'
import { readFind } from '../request/request.ts'
import type { JsonText } from '../response.ts'
import type { Target } from '../service.ts'

interface LineRequest {
  readonly target: Target
  /** `find` is the body of the find, `id` the `_id` of the document as text. */
  readonly body: Json
}

/**
 * Empty if the document has been deleted. Selecting by `_id` reveals nothing even if `_id` is hidden, because
 * the find has already returned this document.
 */
export async function line(deps: Deps, caller: Caller, { target, body }: LineRequest): Promise<JsonText> {
  const { find = {}, id = null } = isObject(body) ? body : {}
  const request = readFind(find, target, deps)
  const allowed = resolveAndAuthorizeFind(deps, caller, request)
  const { schema, asOf } = allowed
  const { read, ...remaining } = planFind(allowed, isInStatement(deps))
  const field = resolveField({ path: '_id', at: '/id' }, rootScope(schema))
  const isWanted = { kind: 'compare', field, op: '$eq', value: castValue(id, field, '/id') } as const
  const query = read.query ? allOf([isWanted, read.query]) : isWanted
  const one = { ...read, query, sort: [], from: 0, to: 0, counted: false }
  const work = workOf(deps, request)
  const page = createPage(allowed, remaining, pageBounds(deps, work))
  let text = ''
  await readPage(
    { ...remaining, read: one },
    { deps, schema, bounds: boundsOf(work, request), asOf },
    (...found) => {
      text = during(work, () => page.line(...found))
    },
  )
  return text
}
