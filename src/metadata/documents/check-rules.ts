/** Checks the row rules of a schema document: each must be a valid query over the schema's own fields. */
import { ServiceError } from '../../base/errors.ts'
import { pointer } from '../../base/json/json.ts'
import { DEFAULT_LIMITS } from '../../base/limits.ts'
import { once } from '../../base/memo.ts'
import { checkRule } from '../../lang/resolve/row-rule.ts'
import type { Scope } from '../../lang/resolve/scope.ts'
import type { RoleList, RowRule } from '../../schema/field.ts'
import type { EntityAccess } from './access-lists.ts'
import { compileRoot } from '../compile-fields.ts'
import type { FieldDocument, FieldDocuments } from './field-document.ts'

interface Ruled {
  readonly access: EntityAccess
  readonly fields: FieldDocuments
}

export function checkRules({ access, fields }: Ruled, at: string): void {
  const scope = once((): Scope => ({ here: compileRoot(fields) }))
  for (const { rule, place } of rulesIn({ access, fields }, at)) check(rule, place, scope())
}

interface PlacedRule {
  readonly rule: RowRule
  readonly place: string
}

function* rulesIn({ access, fields }: Ruled, at: string): Generator<PlacedRule> {
  yield* rulesOf(access, pointer(at, 'access'))
  yield* rulesBelow(fields, pointer(at, 'fields'))
}

function* rulesBelow(fields: FieldDocuments, at: string): Generator<PlacedRule> {
  for (const [name, field] of fields) {
    const place = pointer(at, name)
    yield* rulesOf(field.access, pointer(place, 'access'))
    yield* rulesInside(field, place)
  }
}

function* rulesInside(field: FieldDocument, at: string): Generator<PlacedRule> {
  if (field.kind === 'object') yield* rulesBelow(field.fields, pointer(at, 'fields'))
  if (field.kind === 'array') yield* rulesBelow(field.items.fields, pointer(pointer(at, 'items'), 'fields'))
}

function* rulesOf(lists: Readonly<Record<string, RoleList>>, at: string): Generator<PlacedRule> {
  for (const [operation, list] of Object.entries(lists)) {
    for (const [i, rule] of list.entries()) {
      if (typeof rule === 'string') continue
      yield { rule, place: pointer(pointer(pointer(at, operation), i), 'where') }
    }
  }
}

/** Reports any problem of the query as a fault of the access list; the message contains its JSON pointer. */
function check({ where }: RowRule, place: string, scope: Scope): void {
  try {
    checkRule(where, place, { scope, limits: DEFAULT_LIMITS })
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const context = place.replace(/^\/schema(?=\/)/, '').slice(1)
    throw new ServiceError('metadata:InvalidAccess', error.message, { context })
  }
}
