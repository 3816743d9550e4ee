/** What indexes begin with: only by that they find anything. */
import type { Schema } from '../../schema/schema.ts'
import type { EntityInfo } from '../entity-info.ts'
import type { IndexKey } from '../indexes.ts'

type LeadingKey = Pick<IndexKey, 'field' | 'caseInsensitive'>

/** Identities are indexed as well. */
export function leadingKeys({ indexes }: EntityInfo, { identity }: Schema): readonly LeadingKey[] {
  const declared = indexes.map(({ fields }) => fields[0]!)
  const always = ['_id', ...identity.slice(0, 1).map(({ path }) => path)]
  return [...declared, ...always.map((field) => ({ field, caseInsensitive: false }))]
}

/** A question may name an array where the index names its elements. */
export function serves(first: string, asked: string): boolean {
  return first === asked || first.startsWith(`${asked}.`) || `${first}.*` === asked
}
