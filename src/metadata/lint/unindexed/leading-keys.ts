/** The leading keys of indexes: an index finds documents only by its first key. */
import type { Schema } from '../../../schema/schema.ts'
import type { EntityInfo } from '../../documents/entity-info.ts'
import type { IndexKey } from '../../documents/indexes.ts'

/** Whether some index finds documents by a path; identities are indexed as well. */
export function servedPaths(
  { indexes }: EntityInfo,
  { identity }: Schema,
  isFitting: (key: IndexKey) => boolean = () => true,
): (path: string) => boolean {
  const declared = indexes
    .filter(({ kind }) => kind === undefined)
    .map(({ fields }) => fields[0]!)
    .filter(isFitting)
  const leading = [
    ...declared.map(({ field }) => field),
    '_id',
    ...identity.slice(0, 1).map(({ path }) => path),
  ]
  // A query may name an array where the index names its elements, or vice versa.
  const served = new Set(leading.flatMap((path) => [...withAbove(path), `${path}.*`]))
  return (path) => served.has(path)
}

function withAbove(path: string): readonly string[] {
  const steps = path.split('.')
  return steps.map((_, i) => steps.slice(0, i + 1).join('.'))
}
