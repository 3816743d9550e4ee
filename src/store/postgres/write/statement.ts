/** Parts that the statements of writes share. Each shape of a write has one text, so that few statements are prepared. */
import { type Fragment, type Statement, param, raw, renderShared, sql } from '../../sql/fragment.ts'
import { POSTGRES, arrayText } from '../../sql/postgres-dialect.ts'

export function statementOf(fragment: Fragment): Statement {
  return renderShared(fragment, POSTGRES.placeholder)
}

/** A list as one parameter, so that the text of the statement does not depend on the length of the list. */
export function listParam<T>(
  type: 'text' | 'bigint' | 'integer',
  items: readonly T[],
  textOf: (item: T) => string = String,
): Fragment {
  return sql`${param(arrayText(items.map(textOf)))}::${raw(type)}[]`
}

/** Parameters of an insert, which rows of outbox and history reuse. */
export interface InsertParams {
  /** One key, or the list of keys. */
  readonly keys: Fragment
  readonly version: Fragment
  readonly paths: Fragment
  /** One text, or the list of texts. */
  readonly texts: Fragment
}

/** Parameters of an update, which rows of outbox and history reuse. */
export interface UpdateParams {
  readonly key: Fragment
  /** The version that is replaced. */
  readonly seen: Fragment
  readonly version: Fragment
  readonly text: Fragment
}
