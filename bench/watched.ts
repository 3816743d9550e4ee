/** An entity like the others, but with a hook: what its events cost those who write. */
import { type Json, ENTITY, type Sent, insertOf, item, itemMetadata, updateOf } from './documents.ts'
import { type Figure, several } from './figure.ts'

export const WATCHED = 'watched'
export const HOOK = 'changes'

/** The fields and indexes of the others, and a hook that watches three fields and tells two more. */
export function watchedMetadata(): Json {
  const { entityInfo, schema } = itemMetadata(WATCHED)
  const hook = {
    name: HOOK,
    actions: ['insert', 'update', 'delete'],
    configuration: {
      watchProjection: [{ field: 'status' }, { field: 'quantity' }, { field: 'tags', recursive: true }],
      includeProjection: [{ field: 'sku' }, { field: 'customer' }],
    },
  }
  return { entityInfo: { ...entityInfo, hooks: [hook] }, schema }
}

/** A request that makes an event beside the same one for an entity that nobody watches, with as many documents. */
export function hookFigures(ids: Ids, documents: number): readonly Figure[] {
  const inserts = (entity: string): readonly Sent[] =>
    several(1_000, (i) => insertOf([item(documents + i, documents)], { entity }))
  return [
    {
      name: 'hook-insert-16',
      title: 'insert of one, with a hook',
      connections: 16,
      requests: inserts(WATCHED),
      against: { kind: 'other', label: 'plain', requests: inserts(ENTITY) },
    },
    {
      name: 'hook-update',
      title: 'update by id, with a hook',
      connections: 16,
      requests: ids.watched.map((id) => updateOf(id, WATCHED)),
      against: { kind: 'other', label: 'plain', requests: ids.items.map((id) => updateOf(id)) },
    },
  ]
}

export interface Ids {
  readonly items: readonly string[]
  readonly watched: readonly string[]
}
