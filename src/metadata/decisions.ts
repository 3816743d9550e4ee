/** Turns a proposal into changes for the store: the changes themselves, and their history records. */
import type { Collection } from '../schema/schema.ts'
import type { CollectionDefinition, EntityChange, HistoryRecord } from '../store/metadata-records.ts'
import type { Entity } from './catalogue.ts'
import { printEntityInfo } from './documents/entity-info.ts'
import { printSchemaDocument } from './documents/schema-document.ts'
import type { Proposal } from './validate/validate-change.ts'

interface Basis {
  readonly entity: Entity | undefined
  /** The collection that the entity needs afterwards. */
  readonly prepare: CollectionDefinition
  readonly by: Omit<HistoryRecord, 'before' | 'after'>
}

/** One change per version, or one for entity info alone; none when nothing differs. */
export function decideOn(proposal: Proposal, { entity, prepare, by }: Basis): readonly EntityChange[] {
  const { name } = proposal.info
  const info = JSON.stringify(printEntityInfo(proposal.info))
  const written = proposal.schemas.map((each) => {
    const version = each.version.value
    const before = entity?.versions.get(version)?.text
    return { version, schema: JSON.stringify(printSchemaDocument(each)), before }
  })
  const changed = written.filter(({ schema, before }) => schema !== before)
  if (info === entity?.infoText && changed.length === 0) return []
  const records = changed.length > 0 ? changed : written.slice(0, 1)
  const made = records.map(({ version, schema, before }): EntityChange => {
    const history = {
      ...by,
      version,
      before: entity ? documentText(entity.infoText, before) : null,
      after: documentText(info, schema),
    }
    return { entity: name, info, schemas: [{ version, schema }], history }
  })
  if (made.length > 0) return [...made.slice(0, -1), { ...made.at(-1)!, prepare }]
  const before = entity ? documentText(entity.infoText, undefined) : null
  const history = { ...by, before, after: documentText(info, undefined) }
  return [{ entity: name, info, schemas: [], prepare, history }]
}

interface Removing {
  readonly by: Basis['by']
  readonly collection: Collection
  /** Absent: it must have none. */
  readonly documents: 'delete' | 'keep' | undefined
}

export function decideToRemove(entity: Entity, { by, collection, documents }: Removing): EntityChange {
  const history = { ...by, before: wholeText(entity), after: null }
  const change = { entity: entity.info.name, info: null, schemas: [], history }
  return documents === 'keep'
    ? change
    : { ...change, removed: { collection, isDropped: documents === 'delete' } }
}

function documentText(info: string, schema: string | undefined): string {
  return schema === undefined ? `{"entityInfo":${info}}` : `{"entityInfo":${info},"schema":${schema}}`
}

function wholeText({ infoText, versions }: Entity): string {
  const schemas = [...versions.values()].map(({ text }) => text)
  return `{"entityInfo":${infoText},"schemas":[${schemas.join(',')}]}`
}
