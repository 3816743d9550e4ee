/** Finds the access lists that decide about an operation: those of the entity, then those on the path to a field. */
import type { Field, FieldOperation, RoleList } from '../schema/field.ts'
import type { EntityOperation, Schema } from '../schema/schema.ts'
import { fieldPointer } from '../schema/fields-on-path.ts'
import { type Caller, admits } from './caller.ts'

export interface Question {
  readonly schema: Schema
  readonly operation: EntityOperation
  /** The fields from the root down to the field in question. Absent: the operation on whole documents. */
  readonly trail?: readonly Field[]
}

export interface DecidingList {
  readonly list: RoleList
  /** JSON pointer into the schema. */
  readonly at: string
  readonly operation: EntityOperation
  /** Path of the field that declares the list. Absent: the entity declares it. */
  readonly path?: string
}

/** The lists that must all admit the caller. */
export function decidingLists(
  { schema, operation, trail = [] }: Question,
  caller: Caller,
): readonly DecidingList[] {
  const ofEntity = (each: EntityOperation): DecidingList => ({
    list: schema.access[each],
    at: listPointer('', each),
    operation: each,
  })
  const isNarrowed = selects(operation) && admits(schema.access.find, caller)
  return [
    ofEntity(operation),
    ...(isNarrowed ? [ofEntity('find')] : []),
    ...(operation === 'delete' ? [] : listsDown(schema, trail, operation)),
  ]
}

/** Whether the operation selects documents by a query, which also needs find access; see `selectionRules`. */
export function selects(operation: EntityOperation): boolean {
  return operation === 'update' || operation === 'delete'
}

function listPointer(at: string, operation: EntityOperation): string {
  return `${at}/access/${operation}`
}

/** `roles` of a field repeats the lists of its parent first; the rest is what the field itself adds. */
function listsDown(
  schema: Schema,
  trail: readonly Field[],
  operation: FieldOperation,
): readonly DecidingList[] {
  return trail.flatMap((field, i) => {
    const above: Field = trail[i - 1] ?? schema.root
    const own = field.roles[operation].slice(above.roles[operation].length)
    return own.map((list) => {
      const { path } = declarerOf(list, field, { above, operation })
      return { list, at: listPointer(fieldPointer(path), operation), operation, path }
    })
  })
}

/** The field that declares a list. The size `x#` also has the lists of its array `x`. */
function declarerOf(
  list: RoleList,
  field: Field,
  { above, operation }: { readonly above: Field; readonly operation: FieldOperation },
): Field {
  const isCounter = above.kind === 'object' && field.name.endsWith('#')
  const counted = isCounter ? above.fields.get(field.name.slice(0, -1)) : undefined
  return counted?.kind === 'array' && counted.roles[operation].includes(list) ? counted : field
}
