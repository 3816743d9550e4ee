/** A reference is followed when its target exists and fits. */
import type { ReferenceField } from '../../../schema/field.ts'
import type { Schema } from '../../../schema/schema.ts'
import { fieldPointer } from '../../../schema/fields-on-path.ts'
import type { Finding } from '../../finding.ts'
import { problemWith, referencesIn } from '../../validate/check-references.ts'
import type { Subject } from '../subject.ts'

export function* undefinedReference(subject: Subject): Generator<Finding> {
  for (const schema of subject.schemas) {
    for (const reference of referencesIn(schema)) {
      const finding = findingOn(subject, schema, reference)
      if (finding) yield finding
    }
  }
}

function findingOn(subject: Subject, schema: Schema, reference: ReferenceField): Finding | undefined {
  const { entity, versionValue, path } = reference
  const isItself = entity === schema.entity && (versionValue ?? schema.version) === schema.version
  const target = isItself ? schema : subject.others(entity, versionValue)?.schema
  const shared = { severity: 'warning', at: `/schema${fieldPointer(path)}`, version: schema.version } as const
  const until = 'projections leave the field out, and queries that name it are refused'
  if (!target) {
    const what = versionValue === undefined ? 'a default version of' : `version ${versionValue} of`
    const msg =
      `"${path}" refers to ${what} "${entity}", which is not defined or is disabled; until it is defined, ${until}: ` +
      'define it, or correct "entity" and "versionValue"'
    return { ...shared, code: 'undefined-reference', msg }
  }
  const problem = problemWith(schema, reference, target)
  if (!problem) return undefined
  const msg = `"${path}" refers to "${entity}", ${problem.what}; until this is corrected, ${until}: ${problem.remedy}`
  return { ...shared, code: 'invalid-reference', msg }
}
