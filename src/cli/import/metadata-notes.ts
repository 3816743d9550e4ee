/** Writes the metadata of an import, and notes what differs from Lightblue afterwards. */
import type { Json } from '../../base/json/json.ts'
import type { EntityMetadata } from '../../lightblue/metadata/entities.ts'
import type { Note } from '../../lightblue/metadata/note.ts'
import type { SourceCollection } from '../../lightblue/source.ts'
import type { Loader } from '../../service/load/load.ts'
import type { LoadedMetadata } from '../../service/load/load-metadata.ts'
import { EXIT, Exit } from '../exit.ts'
import type { EntityFinder } from './find-entity.ts'
import { textMember } from '../../lightblue/text-member.ts'

/** The entity of saved searches, which a service creates on its first start. */
const SAVED_SEARCH = 'savedSearch'

/** Fails, with all problems, if some metadata is refused: no documents are loaded then. */
export async function putMetadata(
  entities: readonly EntityMetadata[],
  loader: Loader,
): Promise<readonly Note[]> {
  const { warnings, refused } = await loader.putMetadata(entities)
  const kept = refused.filter(
    ({ entity, error }) => entity === SAVED_SEARCH && error.code === 'metadata:DuplicateSchema',
  )
  const problems = refused.filter((each) => !kept.includes(each))
  if (problems.length > 0) {
    const lines = problems.map(
      ({ entity, error }) => `  ${entity}: ${error.message} (${error.code}, ${error.context})`,
    )
    throw new Exit(
      EXIT.failed,
      ['this metadata is refused, so no documents were loaded:', ...lines].join('\n'),
    )
  }
  return [
    ...kept.map(({ entity }): Note => ({
      kind: 'differs',
      entity,
      what: 'the store has its own definition of saved searches, which is kept',
    })),
    ...warningNotes(warnings),
  ]
}

/** Versions of an entity often have the same warnings. */
function warningNotes(warnings: LoadedMetadata['warnings']): readonly Note[] {
  const notes = warnings.map(({ entity, warning }): Note => ({
    kind: 'warning',
    entity,
    what: messageIn(warning),
  }))
  return [...new Map(notes.map((note) => [JSON.stringify(note), note])).values()]
}

function messageIn(warning: Json): string {
  const message = textMember(warning, 'msg')
  return message === '' ? JSON.stringify(warning) : `${message} (${textMember(warning, 'code')})`
}

interface Outcome {
  readonly entities: readonly EntityMetadata[]
  readonly loader: Loader
  readonly collections: readonly SourceCollection[]
  readonly finder: EntityFinder
  /** Undefined if only metadata is imported. */
  readonly source: { readonly isByEntity: boolean } | undefined
}

export function differences({ entities, loader, collections, finder, source }: Outcome): readonly Note[] {
  const hooks = new Map(loader.entities().map((each) => [each.entity, each.hooks]))
  const present = new Set(collections.flatMap(({ name }) => finder.entitiesOf(name)))
  return entities.flatMap(({ entity, collection }): readonly Note[] => {
    const names = hooks.get(entity) ?? []
    const hooked: Note = {
      kind: 'differs',
      entity,
      what: `its hooks (${names.join(', ')}) create events; they run no code, and the import created no events`,
      advice: 'read the events with GET /events, or define a sink',
    }
    const reason = source?.isByEntity
      ? {
          what: 'all its versions are disabled, so Lightblue does not return its documents',
          advice: 'import a dump',
        }
      : {
          what: `the source has no collection ${collection}, so no documents were imported`,
          advice: 'if it has documents, check --data',
        }
    const missing: Note = { kind: 'differs', entity, ...reason }
    return [...(names.length > 0 ? [hooked] : []), ...(source && !present.has(entity) ? [missing] : [])]
  })
}
