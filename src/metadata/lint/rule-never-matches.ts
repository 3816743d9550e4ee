/**
 * Finds row rules that no document can match, and rules that a stronger entry in the same list makes
 * redundant.
 */
import { memoized } from '../../base/memo.ts'
import type { RoleList } from '../../schema/field.ts'
import { ANYONE_ELSE } from '../../schema/named-roles.ts'
import { isImpossible } from './constant-queries.ts'
import { type PlacedRule, placedRules } from './placed-rules.ts'
import type { Finding } from '../finding.ts'
import type { Subject } from './subject.ts'

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
  const plain = plainEntries(list)
  return ['noone', 'anyone', nameOf(role)].find((each) => plain.has(each))
}

const plainEntries = memoized((list: RoleList) => new Set(list.filter((entry) => typeof entry === 'string')))

function nameOf(role: string): string {
  return role === ANYONE_ELSE ? 'anyone' : role
}
