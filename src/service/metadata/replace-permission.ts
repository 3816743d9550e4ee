/** Decides which permission a write of a version needs: adding metadata is one permission, replacing it another. */
import { type Caller, requirePermission } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import { type Json, sameJson } from '../../base/json/json.ts'
import type { Datasources } from '../../metadata/documents/datastore.ts'
import { type EntityInfo, printEntityInfo } from '../../metadata/documents/entity-info.ts'
import { withElementSteps } from '../../metadata/index-paths.ts'
import { readMetadata, readSchema } from '../../metadata/proposals.ts'
import type { Registry } from '../../metadata/registry.ts'
import { type SchemaDocument, printSchemaDocument } from '../../metadata/documents/schema-document.ts'
import type { MetadataLimits } from '../../metadata/documents/sizes.ts'

export interface Replacing {
  readonly registry: Registry
  readonly configured: Datasources
  readonly limits: MetadataLimits
}

type Written = (
  body: Json,
  replacing: Omit<Replacing, 'registry'>,
) => { readonly info?: EntityInfo; readonly schema: SchemaDocument }

/** Entity info and schema. */
export const asMetadata: Written = readMetadata
/** The schema only: the stored entity info remains unchanged, even if the body contains one. */
export const asSchema: Written = readSchema

interface Sent {
  readonly body: Json
  readonly written: Written
}

/** A caller who may only add metadata must not change existing metadata. */
export async function requireForReplacing(
  caller: Caller,
  documents: readonly Sent[],
  replacing: Replacing,
): Promise<void> {
  if (caller.permissions.has('metadata.update')) return
  await replacing.registry.reload()
  for (const each of documents) requireUnlessAdding(caller, each, replacing)
}

function requireUnlessAdding(caller: Caller, { body, written }: Sent, replacing: Replacing): void {
  const { registry } = replacing
  // The registry reads the document in the same way, so what is invalid here replaces nothing there.
  const sent = soundPart(() => written(body, replacing))
  if (!sent || !registry.names().includes(sent.schema.name)) return
  const { name } = sent.schema
  if (replacesInfo(registry, sent) || replacesSchema(registry, name, sent.schema))
    requirePermission(caller, 'metadata.update')
}

function replacesInfo(registry: Registry, { info: sent, schema }: ReturnType<Written>): boolean {
  if (!sent) return false
  const stored = registry.infoOf(schema.name)
  const { info } = withElementSteps(sent, [...registry.versionsOf(schema.name), schema])
  return !sameJson(printEntityInfo(stored), printEntityInfo(info))
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
