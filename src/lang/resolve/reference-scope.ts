/** The scopes in which the definition of a reference is resolved when metadata is checked. */
import { ServiceError } from '../../base/errors.ts'
import type { ReferenceField } from '../../schema/field.ts'
import type { Schema } from '../../schema/schema.ts'
import { type JoinedField, type Joins, definitionOf } from './joins.ts'
import { type Scope, joinedScope, rootScope } from './scope.ts'

/** In a joined document of `target`; `$parent` is the object of `holder` that contains the reference. */
export function referenceScope(holder: Schema, reference: ReferenceField, target: Schema): Scope {
  const { name, path, roles, constraints } = reference
  const joined: JoinedField = {
    kind: 'array',
    name,
    path,
    roles,
    constraints,
    element: target.root,
    join: { ...definitionOf(reference), reference, schema: target },
  }
  return staying(joinedScope(joined, holder.root))
}

/** In a single document, without an outer scope. */
export function documentScope(schema: Schema): Scope {
  return rootScope(schema, NO_FURTHER)
}

function staying(scope: Scope): Scope {
  const { outer } = scope
  return { ...scope, joins: NO_FURTHER, ...(outer && { outer: { ...outer, scope: staying(outer.scope) } }) }
}

/** The definition of a reference must not follow references, itself included. */
const NO_FURTHER: Joins = {
  definesReference: true,
  join: refuse,
  joinIfDefined: refuse,
  repeat: () => undefined,
  leftOutOf: () => new Set(),
  followedIn: () => new Map(),
  isNeeded: () => false,
  isCounted: () => false,
  isEntered: () => false,
}

function refuse(
  { name }: ReferenceField,
  { named: { path, at } }: { readonly named: { readonly path: string; readonly at: string } },
): never {
  const message = `"${path}" leads through the reference "${name}", and the definition of a reference follows none`
  throw new ServiceError('query-api:InvalidQuery', message, { at })
}
