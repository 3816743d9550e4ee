/** Decides which permission a write of a version needs: adding metadata is one permission, replacing it another. */
import { type Caller, requirePermission } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import { type Json, sameJson } from '../../base/json/json.ts'
import type { Datasources } from '../../metadata/documents/datastore.ts'
import { type EntityInfo, printEntityInfo } from '../../metadata/documents/entity-info.ts'
import { parseMetadataDocument, parseSchemaOrMetadata } from '../../metadata/documents/metadata-document.ts'
import type { Registry } from '../../metadata/registry.ts'
import { type SchemaDocument, printSchemaDocument } from '../../metadata/documents/schema-document.ts'
import { type MetadataLimits, checkSizes } from '../../metadata/documents/sizes.ts'

export interface Replacing {
  readonly registry: Registry
  readonly configured: Datasources
  readonly limits: MetadataLimits
}

type Written = (body: Json, configured: Datasources) => { info?: EntityInfo; schema: SchemaDocument }

/** Entity info and schema. */
export const asMetadata: Written = parseMetadataDocument
/** The schema only: the stored entity info remains unchanged, even if the body contains one. */
export const asSchema: Written = (body, configured) => ({ schema: parseSchemaOrMetadata(body, configured) })

/** A caller who may only add metadata must not change existing metadata. */
export async function requireForReplacing(
  caller: Caller,
  { entity, body, written }: { readonly entity: string; readonly body: Json; readonly written: Written },
  { registry, configured, limits }: Replacing,
): Promise<void> {
  if (caller.permissions.has('metadata.update')) return
  checkSizes(body, limits)
  await registry.reload()
  const sent = soundPart(() => written(body, configured))
  if (!sent || !registry.names().includes(entity)) return
  if (replacesInfo(registry.infoOf(entity), sent.info) || replacesSchema(registry, entity, sent.schema))
    requirePermission(caller, 'metadata.update')
}

function replacesInfo(stored: EntityInfo, sent: EntityInfo | undefined): boolean {
  return sent !== undefined && !sameJson(printEntityInfo(stored), printEntityInfo(sent))
}

function replacesSchema(registry: Registry, entity: string, sent: SchemaDocument): boolean {
  const { value } = sent.version
  if (!registry.headingsOf(entity).some(({ version }) => version.value === value)) return false
  return !sameJson(printSchemaDocument(registry.documentOf(entity, value)), printSchemaDocument(sent))
}

/** An invalid document replaces nothing; the registry reports its errors later. */
function soundPart<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}
