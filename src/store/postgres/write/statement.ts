/** Pieces that the statements of writes have in common. Each shape of a write has one text, so that few are prepared. */
import { type Fragment, type Statement, param, raw, renderShared, sql } from '../../sql/fragment.ts'
import { POSTGRES, arrayText } from '../../sql/postgres-dialect.ts'

export function statementOf(fragment: Fragment): Statement {
  return renderShared(fragment, POSTGRES.placeholder)
}

/** A list as one parameter: the text of the statement does not depend on how many there are. */
export function listParam<T>(
  type: 'text' | 'bigint' | 'integer',
  items: readonly T[],
  textOf: (item: T) => string = String,
): Fragment {
  return sql`${param(arrayText(items.map(textOf)))}::${raw(type)}[]`
}

/** Parameters of an insert; the rows that are entered with the documents use them again. */
export interface InsertParams {
  /** One key, or the list of them. */
  readonly keys: Fragment
  readonly version: Fragment
  readonly paths: Fragment
  /** One text, or the list of them. */
  readonly texts: Fragment
}

/** Parameters of an update that rows entered with it use again. */
export interface UpdateParams {
  readonly key: Fragment
  /** The version that is replaced. */
  readonly seen: Fragment
  readonly version: Fragment
  readonly text: Fragment
}
