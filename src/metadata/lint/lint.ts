/** Finds valid metadata that is probably a mistake, the most severe rules first. */
import type { Schema } from '../../schema/schema.ts'
import type { EntityInfo } from '../documents/entity-info.ts'
import type { SchemaDocument } from '../documents/schema-document.ts'
import { elementIdentityHidden } from './element-identity-hidden.ts'
import { hookCarriesHidden } from './hook-carries-hidden.ts'
import { hookWithoutField } from './ineffective/hook-without-field.ts'
import { indexWithoutField } from './ineffective/index-without-field.ts'
import { inertHook } from './ineffective/inert-hook.ts'
import { undefinedReference } from './ineffective/undefined-reference.ts'
import { unknownKey } from './ineffective/unknown-key.ts'
import { noAccess } from './no-access.ts'
import { noPossibleValue } from './no-possible-value.ts'
import { openWrites } from './open-writes.ts'
import { referenceOverHidden } from './reference-over-hidden.ts'
import { referenceWithoutIndex } from './unindexed/reference-without-index.ts'
import { protectedBelowUpdatable } from './protected-below-updatable.ts'
import { ruleFieldWritable } from './rule-field-writable.ts'
import { ruleNeverMatches } from './rule-never-matches.ts'
import { ruleWithoutIndex } from './unindexed/rule-without-index.ts'
import type { Finding } from '../finding.ts'
import type { AccessMeter, LintRule, Others } from './subject.ts'
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
  noPossibleValue,
  ruleWithoutIndex,
  referenceWithoutIndex,
  protectedBelowUpdatable,
  undefinedReference,
  indexWithoutField,
  hookWithoutField,
  inertHook,
  unknownKey,
]

/** Per rule, because each field of each version may have a finding. */
const MAX_FINDINGS = 1_000

interface LintOptions {
  readonly access: AccessMeter
  readonly others: Others
  /** The documents that the schemas were compiled from; without them, keys without a meaning are not found. */
  readonly documents?: readonly SchemaDocument[]
}

/** `schemas` contains all versions of the entity; disabled ones are not checked. */
export function lint(
  info: EntityInfo,
  schemas: readonly Schema[],
  { access, others, documents = [] }: LintOptions,
): readonly Finding[] {
  const served = schemas.filter(({ status }) => status !== 'disabled')
  const subject = {
    info,
    versions: schemas,
    schemas: served,
    documents: documents.filter(({ status }) => status.value !== 'disabled'),
    reaches: access.reachesIn(served),
    access,
    others,
  }
  const findings = RULES.flatMap((rule) => [...bounded(rule(subject))])
  return [
    ...findings.filter(({ severity }) => severity === 'warning'),
    ...findings.filter(({ severity }) => severity === 'hint'),
  ]
}

/** The first findings of each rule. */
export function* bounded(findings: Iterable<Finding>): Generator<Finding> {
  let count = 0
  for (const finding of findings) {
    if (count++ === MAX_FINDINGS) {
      const { severity, code } = finding
      const msg = `there are more findings of this kind than the ${MAX_FINDINGS} reported here; fix some of them to see others`
      yield { severity, code, at: '', msg }
      return
    }
    yield finding
  }
}
