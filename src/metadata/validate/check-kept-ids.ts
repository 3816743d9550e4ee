/**
 * Checks the type of `_id` against documents that are in a collection before an entity uses it: an entity that was removed or
 * moved elsewhere may have left them there.
 */
import { ServiceError } from '../../base/errors.ts'
import type { Collection } from '../../schema/schema.ts'
import type { Catalogue } from '../catalogue.ts'
import { collectionOf } from '../compile.ts'
import { compileRoot } from '../compile-fields.ts'
import type { EntityInfo } from '../documents/entity-info.ts'
import type { SchemaDocument } from '../documents/schema-document.ts'
import { isOfOtherForm } from '../stored-forms.ts'
import { idTypeIn } from './check-id.ts'
import type { Proposal } from './validate-change.ts'

export async function checkKeptIds(
  catalogue: Catalogue,
  proposals: readonly Proposal[],
  hasDocuments: (collection: Collection) => Promise<boolean>,
): Promise<void> {
  for (const { info, schemas } of proposals) {
    const collection = collectionOf(info)
    const before = catalogue.entities.get(info.name)
    if (before && isIn(collection, before.info)) continue
    // all versions have the same type of `_id`
    const schema = schemas[0] ?? before?.versions.values().next().value?.document()
    if (schema && (await hasDocuments(collection))) checkKeptId(schema, catalogue.storedIn(collection))
  }
}

/** `stored` is what the collection has recorded of its documents. */
function checkKeptId(schema: SchemaDocument, stored: readonly string[]): void {
  const id = compileRoot(schema.fields).fields.get('_id')
  if (!id || !isOfOtherForm(id, stored)) return
  const problem = `"_id" is of type ${idTypeIn(schema)}, but the collection has documents whose "_id" is of another type`
  throw new ServiceError('metadata:FieldWrongType', problem, { context: 'fields/_id' })
}

function isIn({ datasource, name }: Collection, info: EntityInfo): boolean {
  const own = collectionOf(info)
  return own.datasource === datasource && own.name === name
}
