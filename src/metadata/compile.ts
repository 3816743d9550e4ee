/** Compiles metadata documents to the `Schema` that data operations use. */
import { memoized } from '../base/memo.ts'
import { compareText } from '../base/text.ts'
import {
  type Field,
  type Fields,
  type ObjectField,
  type SimpleField,
  type WordIndex,
  isStored,
} from '../schema/field.ts'
import { type Collection, type Schema, allFields } from '../schema/schema.ts'
import { compileRoot } from './compile-fields.ts'
import type { EntityInfo } from './documents/entity-info.ts'
import type { SchemaDocument } from './documents/schema-document.ts'
import { formsOf, isForm, isOpenForm, marking } from './stored-forms.ts'
import { isDerived, ordering } from './stored-order.ts'

/**
 * `stored` is the record of the collection: all paths that any version ever stored there, their forms and
 * their order.
 */
export function compileSchema(info: EntityInfo, document: SchemaDocument, stored: readonly string[]): Schema {
  const enums = new Map(info.enums.map(({ name, values }) => [name, new Set(values)]))
  const marked = ordering(stored)(marking(stored)(compileRoot(document.fields, enums)))
  const { fields } = marked
  const own = new Set([...pathsStored(fields), ...formsOf(fields)])
  const identity = identityOf(fields)
  return {
    entity: info.name,
    version: document.version.value,
    status: document.status.value,
    access: document.access,
    root: withWordIndexes(marked, info),
    identity,
    uniqueKeys: uniqueKeysOf(info, identity),
    collection: { ...collectionOf(info), paths: stored.filter((each) => !isDerived(each)).length },
    // A stored simple value of another form has no members, so it is shown unchanged.
    coversCollection: stored.every((each) => own.has(each) || (isForm(each) && !isOpenForm(each))),
  }
}

/** A version without all fields of an index cannot search it: matches would tell of fields that it does not show. */
function withWordIndexes(root: ObjectField, { indexes }: EntityInfo): ObjectField {
  const wordIndexes = indexes.flatMap(({ name, kind, language, fields }): readonly WordIndex[] => {
    if (kind !== 'text' || name === null) return []
    const weighted = fields.map(({ field, weight = 1 }) => ({ path: field, weight }))
    return [{ name, fields: weighted, ...(language && { language }) }]
  })
  return wordIndexes.length === 0 ? root : { ...root, wordIndexes }
}

/** `_id` is one of the declared indexes; the store has a unique index of the identity, too. */
function uniqueKeysOf({ indexes }: EntityInfo, identity: readonly SimpleField[]): Schema['uniqueKeys'] {
  const declared = indexes
    .filter(({ unique }) => unique)
    .map(({ fields }) => fields.map(({ field }) => field))
  return [...declared, identity.map(({ path }) => path)]
}

/**
 * The schema without regard to stored data. Cached with its document, as long as the relevant parts of entity
 * info are the same.
 */
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

/** The parts of entity info that a schema depends on. */
const basisOf = memoized(({ name, datastore, enums, indexes }: EntityInfo) =>
  JSON.stringify([name, datastore, enums, indexes.filter(({ kind, unique }) => kind === 'text' || unique)]),
)

export function collectionOf({ name, datastore }: EntityInfo): Collection {
  return { datasource: datastore.datasource, name: datastore.collection, entity: name }
}

/** The paths under which documents of the schema store values: all except virtual fields and references. */
export function pathsStored(fields: Fields): readonly string[] {
  return [...allFields(fields)].filter(isStored).map(({ path }) => path)
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
