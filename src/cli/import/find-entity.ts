/** Decides which entity a document of the source belongs to. */
import { type JsonObject, member } from '../../base/json/json.ts'
import { SourceError } from '../../lightblue/source-error.ts'
import type { SourceCollection } from '../../lightblue/source.ts'

interface NamedCollection {
  readonly entity: string
  readonly collection: string
}

export interface EntityFinder {
  readonly isKnown: (name: string) => boolean
  /** The entity, or why there is none. */
  readonly entityOf: (
    name: string,
    document: JsonObject,
  ) => { readonly entity: string } | { readonly problem: string }
  /** The entities of a collection. */
  readonly entitiesOf: (name: string) => readonly string[]
}

export function entityFinder(entities: readonly NamedCollection[], isByEntity: boolean): EntityFinder {
  const byCollection = Map.groupBy(entities, ({ collection }) => collection)
  const entitiesOf = (name: string): readonly string[] => {
    const own = isByEntity ? [] : (byCollection.get(name) ?? [])
    const named = own.length > 0 ? own : entities.filter(({ entity }) => entity === name)
    return named.map(({ entity }) => entity)
  }
  return {
    isKnown: (name) => entitiesOf(name).length > 0,
    entitiesOf,
    entityOf(name, document) {
      const candidates = entitiesOf(name)
      const type = member(document, 'objectType')
      if (type === undefined && candidates.length === 1) return { entity: candidates[0]! }
      const entity = candidates.find((each) => each === type)
      if (entity !== undefined) return { entity }
      const expected = candidates.join(' or ')
      return { problem: `"objectType" must be ${expected}, the entity of the collection ${name}` }
    },
  }
}

/** A collection of the same name in two databases cannot be assigned. */
export function refuseAmbiguity(collections: readonly SourceCollection[], { isKnown }: EntityFinder): void {
  for (const [name, own] of Map.groupBy(collections, (each) => each.name)) {
    if (own.length < 2 || !isKnown(name)) continue
    const databases = own.map(({ database = 'the top directory' }) => database).join(', ')
    throw new SourceError(
      'invalid',
      `the collection ${name} is in several databases (${databases}); choose one of them with --database`,
    )
  }
}
