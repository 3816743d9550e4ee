/** A row rule that no document can match, or that a stronger entry beside it makes pointless. */
import { unreachable } from '../../base/errors.ts'
import { type Json, isArray, isObject, sameJson } from '../../base/json.ts'
import { type Named, type Query, conjunctsOf } from '../../lang/query.ts'
import { ANYONE_ELSE } from '../../schema/named-roles.ts'
import { type PlacedRule, placedRules } from './placed-rules.ts'
import type { Finding, Subject } from './subject.ts'

export function* ruleNeverMatches({ schemas }: Subject): Generator<Finding> {
  for (const schema of schemas) {
    for (const rule of placedRules(schema)) {
      const { version } = schema
      const { at, role } = rule
      if (isImpossible(rule.query)) {
        const msg = `no document can match this rule, so it admits "${nameOf(role)}" to nothing; mend "where", or remove the entry`
        yield { severity: 'warning', code: 'rule-never-matches', at: `${at}/where`, version, msg }
        continue
      }
      const stronger = strongerThan(rule)
      if (stronger === undefined) continue
      const msg = `"${stronger}" stands in the same list without "where", so this rule changes nothing; remove one of them`
      yield { severity: 'hint', code: 'rule-without-effect', at, version, msg }
    }
  }
}

function strongerThan({ list, role }: PlacedRule): string | undefined {
  return ['noone', 'anyone', nameOf(role)].find((each) => list.includes(each))
}

function nameOf(role: string): string {
  return role === ANYONE_ELSE ? 'anyone' : role
}

/** Only what can be seen without looking at documents; `false` says nothing. */
function isImpossible(query: Query<Named>): boolean {
  switch (query.kind) {
    case 'or':
      return query.terms.every(isImpossible)
    case 'and':
      return query.terms.some(isImpossible) || contradicts(conjunctsOf(query))
    case 'in':
      return !query.negated && query.values.length === 0
    case 'contains':
      return query.op === '$any' && query.values.length === 0
    case 'elemMatch':
      return isImpossible(query.query)
    case 'not':
      return isEverything(query.term)
    case 'compare':
    case 'compareFields':
    case 'inField':
    case 'regex':
      return false
    default:
      return unreachable(query)
  }
}

function isEverything(query: Query<Named>): boolean {
  return query.kind === 'and' && query.terms.length === 0
}

/** One field outside of arrays cannot equal two values. */
function contradicts(terms: readonly Query<Named>[]): boolean {
  const known = new Map<string, Json>()
  for (const term of terms) {
    if (term.kind !== 'compare' || term.op !== '$eq' || !isPlain(term.value)) continue
    const { path } = term.field
    if (path.includes('*')) continue
    const other = known.get(path)
    if (other !== undefined && typeof other === typeof term.value && !sameJson(other, term.value)) return true
    known.set(path, term.value)
  }
  return false
}

/** Values of one type; what is taken from the caller may be any. */
function isPlain(value: Json): boolean {
  return !isArray(value) && !isObject(value) && !(typeof value === 'string' && value.startsWith('$caller'))
}
