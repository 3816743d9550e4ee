/** Projections: which members of a document a response contains. The last item that applies to a member wins. */
import type { Json } from '../base/json/json.ts'
import type { Path } from '../base/path.ts'
import { type Query, printQuery } from './query.ts'
import { type SortKey, printSort } from './sort.ts'

export type Projection<F> = readonly ProjectionItem<F>[]

export type ProjectionItem<F> =
  | {
      readonly kind: 'field'
      /** `*` stands for any one step; patterns are not checked against the schema. */
      readonly pattern: Path
      readonly include: boolean
      readonly recursive: boolean
    }
  | ({ readonly kind: 'match'; readonly query: Query<F> } & ArrayItem<F>)
  | ({ readonly kind: 'range'; readonly from: number; readonly to: number | undefined } & ArrayItem<F>)

/** Selects elements of an array, and projects them by a nested projection. */
export interface ArrayItem<F> {
  readonly array: F
  readonly pattern: Path
  readonly include: boolean
  readonly projection: Projection<F>
  readonly sort: readonly SortKey<F>[]
}

export const EVERYTHING: Projection<never> = [
  { kind: 'field', pattern: ['*'], include: true, recursive: true },
]

export function printProjection<F extends { readonly path: string }>(projection: Projection<F>): Json {
  return projection.map((item) => {
    const field = item.pattern.join('.')
    if (item.kind === 'field') return { field, include: item.include, recursive: item.recursive }
    const selector =
      item.kind === 'match' ? { match: printQuery(item.query) } : { range: [item.from, item.to ?? null] }
    const sort = item.sort.length > 0 ? { sort: printSort(item.sort) } : {}
    return {
      field,
      include: item.include,
      ...selector,
      projection: printProjection(item.projection),
      ...sort,
    }
  })
}
