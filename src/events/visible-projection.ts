/** The projections of a hook, restricted to the fields that a reader may see. */
import { ServiceError } from '../base/errors.ts'
import { type Json, isArray } from '../base/json/json.ts'
import { parseProjection } from '../lang/parse/parse-projection.ts'
import type { Projection, ProjectionItem } from '../lang/projection.ts'
import { fieldsOf } from '../lang/query.ts'
import { resolveProjection } from '../lang/resolve/resolve.ts'
import { type FieldRef, rootScope } from '../lang/resolve/scope.ts'
import type { Field } from '../schema/field.ts'
import type { Schema } from '../schema/schema.ts'

type IsHidden = (field: Field) => boolean

/** Undefined when none is declared; an empty list declares none. A projection that is invalid for this version selects nothing. */
export function projectionOf(
  definition: Json | undefined,
  schema: Schema,
  isHidden: IsHidden,
): Projection<FieldRef> | undefined {
  if (definition === undefined || (isArray(definition) && definition.length === 0)) return undefined
  try {
    const projection = resolveProjection(parseProjection(definition, ''), rootScope(schema))
    return projection.map((item) => visible(item, isHidden))
  } catch (error) {
    if (error instanceof ServiceError) return []
    throw error
  }
}

/** Elements selected by a hidden field would leak it, so they are excluded. */
function visible(item: ProjectionItem<FieldRef>, isHidden: IsHidden): ProjectionItem<FieldRef> {
  if (item.kind === 'field') return item
  const { pattern } = item
  if (selectionFields(item).some((ref) => isInvisible(ref, isHidden))) {
    return { kind: 'field', pattern, include: false, recursive: true }
  }
  return { ...item, projection: item.projection.map((each) => visible(each, isHidden)) }
}

function selectionFields(item: Exclude<ProjectionItem<FieldRef>, { kind: 'field' }>): readonly FieldRef[] {
  const matched = item.kind === 'match' ? [...fieldsOf(item.query)] : []
  return [...matched, ...item.sort.map(({ field }) => field)]
}

function isInvisible({ field }: FieldRef, isHidden: IsHidden): boolean {
  return isHidden(field) || (field.kind === 'array' && isHidden(field.element))
}
