/** Metadata documents → the `Schema` that data operations work with. */
import { unreachable } from '../base/errors.ts'
import { sameJson } from '../base/json/json.ts'
import { memoized } from '../base/memo.ts'
import { compareText } from '../base/text.ts'
import type {
  Constraints,
  Element,
  Field,
  FieldOperation,
  Fields,
  ObjectField,
  RoleList,
  SimpleField,
} from '../schema/field.ts'
import { type Collection, type Schema, allFields } from '../schema/schema.ts'
import { TYPES } from '../schema/types.ts'
import type { ConstraintsDocument } from './documents/constraints.ts'
import type { EntityInfo } from './documents/entity-info.ts'
import type {
  ArrayDocument,
  FieldAccess,
  FieldDocument,
  FieldDocuments,
  ReferenceDocument,
} from './documents/field-document.ts'
import type { SchemaDocument } from './documents/schema-document.ts'
import { formsOf, isForm, isOpenForm, isStored, marking } from './stored-forms.ts'

/** `stored` is what the collection remembers: all paths that any version ever stored there, and in which forms. */
export function compileSchema(info: EntityInfo, document: SchemaDocument, stored: readonly string[]): Schema {
  const enums = new Map(info.enums.map(({ name, values }) => [name, new Set(values)]))
  const root = marking(stored)(compileRoot(document.fields, enums))
  const { fields } = root
  const own = new Set([...pathsStored(fields), ...formsOf(fields)])
  return {
    entity: info.name,
    version: document.version.value,
    status: document.status.value,
    access: document.access,
    root,
    identity: identityOf(fields),
    collection: { ...collectionOf(info), paths: stored.length },
    // A simple value of another form has no members, so it is shown as it is.
    coversCollection: stored.every((each) => own.has(each) || (isForm(each) && !isOpenForm(each))),
  }
}

/** The schema by itself, whatever is stored; kept as long as its document, if the entity is the same to it. */
export function plainSchema(info: EntityInfo, document: SchemaDocument): Schema {
  const basis = basisOf(info)
  const known = plainSchemas.get(document)
  const kept = known?.basis === basis ? known.schema.deref() : undefined
  if (kept) return kept
  const schema = compileSchema(info, document, [])
  plainSchemas.set(document, { basis, schema: new WeakRef(schema) })
  return schema
}

const plainSchemas = new WeakMap<
  SchemaDocument,
  { readonly basis: string; readonly schema: WeakRef<Schema> }
>()

/** What of entity info a schema depends on. */
const basisOf = memoized(({ name, datastore, enums }: EntityInfo) => JSON.stringify([name, datastore, enums]))

/** The fields as those see them who look up names. */
export function compileRoot(documents: FieldDocuments, enums: Enums = new Map()): ObjectField {
  const fields = compileFields(documents, { above: '', roles: NO_ROLES, enums })
  return { kind: 'object', name: '', path: '', roles: NO_ROLES, constraints: {}, fields }
}

export function collectionOf({ name, datastore }: EntityInfo): Collection {
  return { datasource: datastore.datasource, name: datastore.collection, entity: name }
}

/** The paths under which documents of the schema hold something: all but what is filled or joined when read. */
export function pathsStored(fields: Fields): readonly string[] {
  return [...allFields(fields)].filter(isStored).map(({ path }) => path)
}

type Roles = Readonly<Record<FieldOperation, readonly RoleList[]>>
type Enums = ReadonlyMap<string, ReadonlySet<string>>

/** What the way down to a field hands on. */
interface Above {
  /** Path of the container with a dot at its end; empty at the root. */
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
        ...(field.virtual ? { virtual: field.virtual } : {}),
      }
    case 'object': {
      const inside = { ...above, above: `${described.path}.`, roles: described.roles }
      return { ...described, kind: 'object', fields: compileFields(field.fields, inside) }
    }
    case 'array':
      return { ...described, kind: 'array', element: compileElement(field, described, above.enums) }
    case 'reference':
      return { ...described, kind: 'reference', ...compileJoin(field) }
    default:
      return unreachable(field)
  }
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

/** The size of an array tells something of the array, so all that guards the array guards its size. */
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

/** An enum can only be missing in a disabled version; enabling it again looks for the enum first. */
function compileConstraints({ checked, enumName }: ConstraintsDocument, enums: Enums): Constraints {
  if (enumName === undefined) return checked
  return { ...checked, enum: { name: enumName, values: enums.get(enumName) ?? new Set() } }
}

function identityOf(fields: Fields): readonly SimpleField[] {
  const declared = [...allFields(fields)].filter(isIdentity)
  if (declared.length > 0) return declared.sort((a, b) => compareText(a.path, b.path))
  const id = fields.get('_id')
  return id?.kind === 'simple' ? [id] : []
}

function isIdentity(field: Field): field is SimpleField {
  return field.kind === 'simple' && field.constraints.identity === true
}

const NO_ROLES: Roles = { find: [], insert: [], update: [] }
