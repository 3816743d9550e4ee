/** Conditions that a form can show: the equal fields of a reference, and the row rules of an access list. */
import { type Json, type JsonObject, isArray, isObject } from '../client/json.ts'

/** A field of the other entity that equals a field beside the reference. */
export interface Join {
  readonly theirs: string
  readonly ours: string
}

const PARENT = '$parent.'

/** Undefined for a query that is more than equal fields: it is shown as JSON. */
export function joinsIn(query: Json | undefined): readonly Join[] | undefined {
  const terms =
    isObject(query) && isArray(query['$and']) && Object.keys(query).length === 1 ? query['$and'] : [query]
  const joins = terms.map((term) => joinIn(term))
  return joins.every((each) => each !== undefined) ? joins : undefined
}

function joinIn(term: Json | undefined): Join | undefined {
  if (!isObject(term) || Object.keys(term).length !== 3) return undefined
  const { field, op, rfield } = term
  if (typeof field !== 'string' || typeof rfield !== 'string') return undefined
  if ((op !== '=' && op !== '$eq') || !rfield.startsWith(PARENT)) return undefined
  return { theirs: field, ours: rfield.slice(PARENT.length) }
}

export function queryOf(joins: readonly Join[]): JsonObject {
  const terms = joins.map(({ theirs, ours }) => ({ field: theirs, op: '=', rfield: `${PARENT}${ours}` }))
  return terms.length === 1 ? terms[0]! : { $and: terms }
}

/** What the field of a row rule equals. */
export type Compared = 'caller' | 'claim' | 'value'

export interface RowCondition {
  readonly field: string
  readonly compared: Compared
  /** The name of a claim, or the value. */
  readonly text: string
}

const PRINCIPAL = '$caller.principal'
const CLAIMS = '$caller.claims.'

/** Undefined for a rule that is more than one equal field: it is shown as JSON. */
export function conditionIn(where: Json | undefined): RowCondition | undefined {
  if (!isObject(where) || Object.keys(where).length !== 3) return undefined
  const { field, op, rvalue } = where
  if (typeof field !== 'string' || (op !== '=' && op !== '$eq') || typeof rvalue !== 'string')
    return undefined
  if (rvalue === PRINCIPAL) return { field, compared: 'caller', text: '' }
  if (rvalue.startsWith(CLAIMS)) return { field, compared: 'claim', text: rvalue.slice(CLAIMS.length) }
  return { field, compared: 'value', text: rvalue }
}

export function whereOf({ field, compared, text }: RowCondition): JsonObject {
  const rvalue = compared === 'caller' ? PRINCIPAL : compared === 'claim' ? `${CLAIMS}${text}` : text
  return { field, op: '=', rvalue }
}

/** A row rule that somebody completes. */
export const NEW_RULE: JsonObject = { role: '', where: whereOf({ field: '', compared: 'caller', text: '' }) }
