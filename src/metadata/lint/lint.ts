/** What is allowed in the metadata of an entity but is likely a mistake, in the order of its weight. */
import { namedRoles } from '../../schema/named-roles.ts'
import type { Schema } from '../../schema/schema.ts'
import type { EntityInfo } from '../entity-info.ts'
import { elementIdentityHidden } from './element-identity-hidden.ts'
import { hookCarriesHidden } from './hook-carries-hidden.ts'
import { noAccess } from './no-access.ts'
import { openWrites } from './open-writes.ts'
import { referenceOverHidden } from './reference-over-hidden.ts'
import { referenceWithoutIndex } from './reference-without-index.ts'
import { remembered } from './remembered.ts'
import { ruleFieldWritable } from './rule-field-writable.ts'
import { ruleNeverMatches } from './rule-never-matches.ts'
import { ruleWithoutIndex } from './rule-without-index.ts'
import type { Finding, LintRule, Subject } from './subject.ts'
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
]

/** `schemas` are all versions of the entity; disabled ones do no harm. */
export function lint(
  info: EntityInfo,
  schemas: readonly Schema[],
  { reachOf, others }: Pick<Subject, 'reachOf' | 'others'>,
): readonly Finding[] {
  const served = schemas.filter(({ status }) => status !== 'disabled')
  const roles = namedRoles(served)
  const subject = { info, schemas: served, roles, reachOf: remembered(reachOf), others }
  const findings = RULES.flatMap((rule) => [...rule(subject)])
  return [
    ...findings.filter(({ severity }) => severity === 'warning'),
    ...findings.filter(({ severity }) => severity === 'hint'),
  ]
}
