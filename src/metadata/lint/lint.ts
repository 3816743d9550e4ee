/** Finds valid metadata that is probably a mistake, the most severe rules first. */
import type { Schema } from '../../schema/schema.ts'
import type { EntityInfo } from '../documents/entity-info.ts'
import { elementIdentityHidden } from './element-identity-hidden.ts'
import { hookCarriesHidden } from './hook-carries-hidden.ts'
import { noAccess } from './no-access.ts'
import { openWrites } from './open-writes.ts'
import { referenceOverHidden } from './reference-over-hidden.ts'
import { referenceWithoutIndex } from './reference-without-index.ts'
import { protectedBelowUpdatable } from './protected-below-updatable.ts'
import { ruleFieldWritable } from './rule-field-writable.ts'
import { ruleNeverMatches } from './rule-never-matches.ts'
import { ruleWithoutIndex } from './rule-without-index.ts'
import type { AccessMeter, Finding, LintRule, Others } from './subject.ts'
import { typesDiffer } from './types-differ.ts'
import { uniqueOverHidden } from './unique-over-hidden.ts'
import { versionDowngrade } from './version-downgrade.ts'

const RULES: readonly LintRule[] = [
  versionDowngrade,
  uniqueOverHidden,
  elementIdentityHidden,
  ruleFieldWritable,
  ruleNeverMatches,
  hookCarriesHidden,
  openWrites,
  noAccess,
  referenceOverHidden,
  typesDiffer,
  ruleWithoutIndex,
  referenceWithoutIndex,
  protectedBelowUpdatable,
]

/** Per rule, because each field of each version may have a finding. */
const MAX_FINDINGS = 1_000

/** `schemas` contains all versions of the entity; disabled ones are not checked. */
export function lint(
  info: EntityInfo,
  schemas: readonly Schema[],
  { access, others }: { readonly access: AccessMeter; readonly others: Others },
): readonly Finding[] {
  const served = schemas.filter(({ status }) => status !== 'disabled')
  const subject = { info, schemas: served, reaches: access.reachesIn(served), access, others }
  const findings = RULES.flatMap((rule) => [...bounded(rule(subject))])
  return [
    ...findings.filter(({ severity }) => severity === 'warning'),
    ...findings.filter(({ severity }) => severity === 'hint'),
  ]
}

function* bounded(findings: Iterable<Finding>): Generator<Finding> {
  let count = 0
  for (const finding of findings) {
    if (count++ === MAX_FINDINGS) {
      const { severity, code } = finding
      const msg = `there are more findings of this kind than the ${MAX_FINDINGS} told here; mend some of them to see others`
      yield { severity, code, at: '', msg }
      return
    }
    yield finding
  }
}
