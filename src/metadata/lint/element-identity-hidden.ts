/**
 * Element identities are compared for all callers, so a duplicate error reveals values that a writer may not
 * read.
 */
import { NO } from '../../schema/reach.ts'
import { allFields } from '../../schema/schema.ts'
import { fieldPointer, fieldsOnPath } from '../../schema/fields-on-path.ts'
import type { Finding } from '../finding.ts'
import { type Subject, listed, rolesOf, writable } from './subject.ts'

export function* elementIdentityHidden(subject: Subject): Generator<Finding> {
  const { reaches } = subject
  for (const schema of subject.schemas) {
    for (const field of allFields(schema.root.fields)) {
      const { path, constraints } = field
      if (constraints.elementIdentity !== true) continue
      const array = path.slice(0, path.lastIndexOf('.*'))
      const isWritable = writable(subject, schema, fieldsOnPath(schema, array)!.at(-1)!)
      const find = reaches.ranks(schema, 'find', field)
      const blind = rolesOf(reaches, (index) => isWritable(index) && find[index] === NO)
      if (blind.length === 0) continue
      yield {
        severity: 'warning',
        code: 'element-identity-hidden',
        at: `/schema${fieldPointer(path)}/constraints/element-identity`,
        version: schema.version,
        msg:
          `"${path}" tells the elements of "${array}" apart, and ${listed(blind)} may write elements without being ` +
          'allowed to read it: crud:DuplicateArrayElementId tells them which values exist; let them read it, or ' +
          `keep them from writing "${array}"`,
      }
    }
  }
}
