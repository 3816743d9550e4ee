/**
 * Authorizes the references of a find. Joined documents are narrowed by the row rules of their own entity; a reference
 * that the caller may not read is left out.
 */
import { ServiceError } from '../base/errors.ts'
import type { Path } from '../base/path.ts'
import type { Followed } from '../lang/resolve/follow.ts'
import { type Query, allOf } from '../lang/query.ts'
import type { FieldRef } from '../lang/resolve/scope.ts'
import { passedScopes, shifted } from '../lang/resolve/query-walk.ts'
import { type QueryAccess, allowedQuery, requireReadable, queryAccessOf } from './authorize-query.ts'
import type { Caller } from './caller.ts'
import type { AllowedJoin } from './requests.ts'
import { type View, viewOf } from './view.ts'

export function allowedJoins(
  followed: readonly Followed[],
  holder: View,
  caller: Caller,
): readonly AllowedJoin[] {
  return followed.flatMap((each) => allowedJoin(each, holder, caller) ?? [])
}

/** Undefined if the caller may read none of the joined documents, or not the fields by which they are joined. */
function allowedJoin(followed: Followed, holder: View, caller: Caller): AllowedJoin | undefined {
  const { field, isCount, steps, sort, projection } = followed
  const { schema } = field.join
  const view = viewOf(schema)(caller)
  if (!view.admitsTo('find')) return undefined
  const own = queryAccessOf(view)
  const around = queryAccessOf(holder)
  try {
    requireReadable({ path: field.path, field }, around)
    for (const key of sort) requireReadable(key.field, own)
    const scopes = [own, ...passedScopes(followed, around), around]
    const query = allowedQuery(followed.query, scopes, caller)
    const { visibility, visibilityOf } = view
    const rules = [...ownRules(own), ...holderRules(around, steps)]
    return {
      ...(isCount && { isCount }),
      steps,
      joinedBy: [...around.fields],
      schema,
      query: allOf([...rules, query]),
      isNarrowed: rules.length > 0,
      sort,
      visibility,
      ...(visibilityOf && { shownAs: visibilityOf }),
      ...(projection && { projection }),
      joins: allowedJoins(followed.followed, view, caller),
    }
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'crud:NoAccess') return undefined
    throw error
  }
}

/** Whether row rules were added to the join or to one of its nested joins. */
export function isNarrowedJoin({ isNarrowed, joins }: AllowedJoin): boolean {
  return isNarrowed || joins.some(isNarrowedJoin)
}

function ownRules({ view, rules }: QueryAccess): readonly Query<FieldRef>[] {
  return [...new Set([...view.rulesFor('find'), ...rules])]
}

/**
 * The row rules of the containing document, moved into the scope of the joined one: where they do not match, the
 * reference joins nothing.
 */
function holderRules({ rules }: QueryAccess, steps: Path): readonly Query<FieldRef>[] {
  const between = steps.filter((step) => step === '*').length
  return [...rules].map((rule) => shifted(rule, between + 1))
}
