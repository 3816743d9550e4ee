/** Queries whose result is known without documents: they match nothing, or everything. */
import { type Json, isArray, isObject, sameJson } from '../../base/json/json.ts'
import { literalOf, literalsOf } from '../../lang/operand.ts'
import { type Named, type Query, conjunctsOf } from '../../lang/query.ts'

/** `false` means undecided. */
export function isImpossible(query: Query<Named>): boolean {
  if (query.kind === 'or') return query.terms.every(isImpossible)
  if (query.kind === 'and') return query.terms.some(isImpossible) || contradicts(conjunctsOf(query))
  if (query.kind === 'not') return isEverything(query.term)
  if (query.kind === 'elemMatch') return isImpossible(query.query)
  if (query.kind === 'in') return !query.negated && literalsOf(query.values).length === 0
  return query.kind === 'contains' && query.op === '$any' && query.values.length === 0
}

/** `false` means undecided. */
export function isEverything(query: Query<Named>): boolean {
  if (query.kind === 'and') return query.terms.every(isEverything)
  if (query.kind === 'or') return query.terms.some(isEverything)
  return query.kind === 'not' && isImpossible(query.term)
}

/** A single field outside of arrays cannot equal two values. */
function contradicts(terms: readonly Query<Named>[]): boolean {
  const known = new Map<string, Json>()
  for (const term of terms) {
    if (term.kind !== 'compare' || term.op !== '$eq') continue
    const { path } = term.field
    const value = literalOf(term.value)
    if (path.includes('*') || !isPlain(value)) continue
    const other = known.get(path)
    if (other !== undefined && typeof other === typeof value && !sameJson(other, value)) return true
    known.set(path, value)
  }
  return false
}

/** A literal of a simple type; a `$caller` placeholder may have any value. */
function isPlain(value: Json): boolean {
  return !isArray(value) && !isObject(value) && !(typeof value === 'string' && value.startsWith('$caller'))
}
