/** Which lists decide about an operation, the entity's first and then those on the way down to a field. */
import type { Field, FieldOperation, RoleList } from '../schema/field.ts'
import type { EntityOperation, Schema } from '../schema/schema.ts'
import { fieldPointer } from '../schema/trail.ts'
import { type Caller, admits } from './caller.ts'

export interface Question {
  readonly schema: Schema
  readonly operation: EntityOperation
  /** The fields from the root down to the one asked about; absent: about documents as a whole. */
  readonly trail?: readonly Field[]
}

export interface DecidingList {
  readonly list: RoleList
  /** JSON pointer into the schema. */
  readonly at: string
  readonly operation: EntityOperation
  /** Of the field that declares it; absent: the entity does. */
  readonly path?: string
}

/** The caller is admitted by all of these, or not at all. */
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

/** What is chosen by a query is chosen among what can be found; see `selectionRules`. */
export function selects(operation: EntityOperation): boolean {
  return operation === 'update' || operation === 'delete'
}

function listPointer(at: string, operation: EntityOperation): string {
  return `${at}/access/${operation}`
}

/** A field's lists are those above it and then its own, if it has one that says something else. */
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

/** The size of an array is guarded by the lists of the array, too. */
function declarerOf(
  list: RoleList,
  field: Field,
  { above, operation }: { readonly above: Field; readonly operation: FieldOperation },
): Field {
  const isCounter = above.kind === 'object' && field.name.endsWith('#')
  const counted = isCounter ? above.fields.get(field.name.slice(0, -1)) : undefined
  return counted?.kind === 'array' && counted.roles[operation].includes(list) ? counted : field
}
