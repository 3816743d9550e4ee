/** Loads the documents of a source, batch by batch, and counts what becomes of them. */
import { ServiceError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json/json.ts'
import type { SourceBatch, SourceDocument } from '../../lightblue/source.ts'
import type { Loader } from '../../service/load/load.ts'
import type { EntityFinder } from './find-entity.ts'
import type { RejectsFile } from './rejects-file.ts'
import type { DocumentCounts } from './report.ts'

interface BatchLoading {
  readonly loader: Loader
  readonly finder: EntityFinder
  readonly rejects: RejectsFile
}

/** Counts by entity. */
export type Loaded = Map<string, { documents: DocumentCounts; readonly dropped: Map<string, number> }>

export async function loadBatch(
  { name, documents }: SourceBatch,
  loaded: Loaded,
  loading: BatchLoading,
): Promise<void> {
  const { loader, finder, rejects } = loading
  const first = finder.entitiesOf(name)[0]!
  const placed = new Map<string, JsonObject[]>()
  for (const each of documents) {
    const place = placeOf(each, name, finder)
    if ('error' in place) {
      rejects.add(first, place.shown, [place.error])
      add(loaded, first, { rejected: 1 })
      continue
    }
    const own = placed.get(place.entity) ?? []
    own.push(place.document)
    placed.set(place.entity, own)
  }
  for (const [entity, own] of placed) {
    const { inserted, updated, unchanged, dropped, rejected } = await loader.load(entity, own)
    for (const [position, faults] of rejected) {
      rejects.add(entity, JSON.stringify(own[position]), faults)
    }
    add(loaded, entity, { inserted, updated, unchanged, rejected: rejected.size })
    const counts = loaded.get(entity)!.dropped
    for (const [path, count] of dropped) counts.set(path, (counts.get(path) ?? 0) + count)
  }
}

type Place =
  | { readonly entity: string; readonly document: JsonObject }
  | { readonly error: ServiceError; readonly shown: string }

function placeOf(source: SourceDocument, name: string, finder: EntityFinder): Place {
  if (source.kind === 'refused') {
    const { shown, path, problem } = source
    return { shown, error: new ServiceError('metadata:IncompatibleValue', problem, { context: path }) }
  }
  const { document } = source
  const found = finder.entityOf(name, document)
  if ('entity' in found) return { entity: found.entity, document }
  const error = new ServiceError('crud:InvalidEntity', found.problem, { context: 'objectType' })
  return { shown: JSON.stringify(document), error }
}

const NOTHING: DocumentCounts = { inserted: 0, updated: 0, unchanged: 0, rejected: 0 }

function add(loaded: Loaded, entity: string, more: Partial<DocumentCounts>): void {
  const { documents = NOTHING, dropped = new Map<string, number>() } = loaded.get(entity) ?? {}
  const { inserted = 0, updated = 0, unchanged = 0, rejected = 0 } = more
  loaded.set(entity, {
    documents: {
      inserted: documents.inserted + inserted,
      updated: documents.updated + updated,
      unchanged: documents.unchanged + unchanged,
      rejected: documents.rejected + rejected,
    },
    dropped,
  })
}
