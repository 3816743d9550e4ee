/**
 * Compiles field documents to the fields of a schema, each with its path and the access lists from the root
 * down to it.
 */
import { unreachable } from '../base/errors.ts'
import { type Json, isArray, sameJson } from '../base/json/json.ts'
import type {
  Constraints,
  Element,
  Field,
  FieldOperation,
  Fields,
  ObjectField,
  RoleList,
} from '../schema/field.ts'
import { TYPES } from '../schema/types.ts'
import type { ConstraintsDocument } from './documents/constraints.ts'
import type {
  ArrayDocument,
  FieldAccess,
  FieldDocument,
  FieldDocuments,
  ReferenceDocument,
} from './documents/field-document.ts'

/** The root object of a schema, the scope in which names are looked up. */
export function compileRoot(documents: FieldDocuments, enums: Enums = new Map()): ObjectField {
  const fields = compileFields(documents, { above: '', roles: NO_ROLES, enums })
  return { kind: 'object', name: '', path: '', roles: NO_ROLES, constraints: {}, fields }
}

type Roles = Readonly<Record<FieldOperation, readonly RoleList[]>>
type Enums = ReadonlyMap<string, ReadonlySet<string>>

/** The context that a container passes down to its fields. */
interface Above {
  /** The path of the container with a trailing dot; empty at the root. */
  readonly above: string
  readonly roles: Roles
  readonly enums: Enums
}

function compileFields(fields: FieldDocuments, above: Above): Fields {
  return new Map([...fields].map(([name, field]) => [name, compileField(field, fields, above)]))
}

function compileField(field: FieldDocument, siblings: FieldDocuments, above: Above): Field {
  const { name } = field
  const described = {
    name,
    path: above.above + name,
    roles: withLists(rolesAbove(field, siblings, above.roles), field.access),
    constraints: compileConstraints(field.constraints, above.enums),
  }
  switch (field.kind) {
    case 'simple':
      return {
        ...described,
        kind: 'simple',
        type: TYPES[field.type],
        ...(field.generator ? { generator: field.generator.generator } : {}),
        ...compileDefault(field.default, (value) => TYPES[field.type].cast(value)),
        ...(field.virtual ? { virtual: field.virtual } : {}),
      }
    case 'object': {
      const inside = { ...above, above: `${described.path}.`, roles: described.roles }
      return { ...described, kind: 'object', fields: compileFields(field.fields, inside) }
    }
    case 'array':
      return {
        ...described,
        kind: 'array',
        element: compileElement(field, described, above.enums),
        ...compileDefault(field.default, (value) => castArray(value, field.items.type)),
      }
    case 'reference':
      return { ...described, kind: 'reference', ...compileJoin(field) }
    default:
      return unreachable(field)
  }
}

/** Undefined, and then without effect, if it does not have the type of its field; new metadata is refused for that. */
function compileDefault(
  value: Json | undefined,
  cast: (value: Json) => Json | undefined,
): { readonly default?: Json } {
  const stored = value === undefined || value === null ? undefined : cast(value)
  return stored === undefined ? {} : { default: stored }
}

/** Arrays of objects can only be empty. */
function castArray(value: Json, type: ArrayDocument['items']['type']): Json | undefined {
  if (!isArray(value)) return undefined
  if (value.length === 0) return value
  if (type === 'object') return undefined
  const elements = value.map((each) => (each === null ? null : TYPES[type].cast(each)))
  return elements.every((each) => each !== undefined) ? elements : undefined
}

function compileElement(
  { items }: ArrayDocument,
  array: { readonly path: string; readonly roles: Roles },
  enums: Enums,
): Element {
  const path = `${array.path}.*`
  const { roles } = array
  const described = { name: '*', path, roles, constraints: compileConstraints(items.constraints, enums) }
  if (items.type !== 'object') return { ...described, kind: 'simple', type: TYPES[items.type] }
  const fields = compileFields(items.fields, { above: `${path}.`, roles, enums })
  return { ...described, kind: 'object', fields }
}

function compileJoin({ entity, versionValue, query, projection, sort }: ReferenceDocument) {
  return {
    entity,
    ...(versionValue === undefined ? {} : { versionValue }),
    ...(query === undefined ? {} : { query }),
    ...(projection === undefined ? {} : { projection }),
    ...(sort === undefined ? {} : { sort }),
  }
}

/**
 * The size of an array reveals something about the array, so the access lists of the array apply to its size
 * too.
 */
function rolesAbove({ name }: FieldDocument, siblings: FieldDocuments, roles: Roles): Roles {
  const counted = name.endsWith('#') ? siblings.get(name.slice(0, -1)) : undefined
  return counted?.kind === 'array' ? withLists(roles, counted.access) : roles
}

function withLists(roles: Roles, access: FieldAccess): Roles {
  return {
    find: withList(roles.find, access.find),
    insert: withList(roles.insert, access.insert),
    update: withList(roles.update, access.update),
  }
}

function withList(lists: readonly RoleList[], list: RoleList): readonly RoleList[] {
  const isKnown = lists.some((each) => sameJson(each, list))
  return list.length === 0 || isKnown ? lists : [...lists, list]
}

/**
 * An enum can be missing only in a disabled version; enabling the version again checks for the enum first.
 */
function compileConstraints({ checked, enumName }: ConstraintsDocument, enums: Enums): Constraints {
  if (enumName === undefined) return checked
  return { ...checked, enum: { name: enumName, values: enums.get(enumName) ?? new Set() } }
}

const NO_ROLES: Roles = { find: [], insert: [], update: [] }
