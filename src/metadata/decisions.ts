/** Turns a proposal into a metadata change for the store: the change itself, and its history record. */
import type { HistoryRecord, MetadataChange } from '../store/metadata-records.ts'
import type { Catalogue, Entity } from './catalogue.ts'
import { printEntityInfo } from './documents/entity-info.ts'
import { printSchemaDocument } from './documents/schema-document.ts'
import { type Proposal, validateChange } from './validate/validate-change.ts'

export type Decision = Omit<MetadataChange, 'expectedEpoch' | 'entity'>

/** The change for the store, or undefined when nothing differs. */
export function decideOn(
  proposal: Proposal,
  entity: Entity | undefined,
  from: { readonly catalogue: Catalogue; readonly by: Omit<HistoryRecord, 'before' | 'after'> },
): Decision | undefined {
  const prepare = validateChange(from.catalogue, entity, proposal)
  const version = proposal.schema?.version.value
  const info = JSON.stringify(printEntityInfo(proposal.info))
  const schema = proposal.schema && JSON.stringify(printSchemaDocument(proposal.schema))
  const schemaBefore = version === undefined ? undefined : entity?.versions.get(version)?.text
  if (info === entity?.infoText && schema === schemaBefore) return undefined
  const before = entity ? documentText(entity.infoText, schemaBefore) : null
  const history = { ...from.by, before, after: documentText(info, schema) }
  const schemas = version === undefined || schema === undefined ? [] : [{ version, schema }]
  return { info, schemas, prepare, history }
}

function documentText(info: string, schema: string | undefined): string {
  return schema === undefined ? `{"entityInfo":${info}}` : `{"entityInfo":${info},"schema":${schema}}`
}

export function wholeText({ infoText, versions }: Entity): string {
  const schemas = [...versions.values()].map(({ text }) => text)
  return `{"entityInfo":${infoText},"schemas":[${schemas.join(',')}]}`
}
