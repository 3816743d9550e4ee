/** What tells array elements apart is compared for everybody, so clashes give away values that a writer may not read. */
import { allFields } from '../../schema/schema.ts'
import { fieldPointer } from '../../schema/trail.ts'
import { type Finding, type Subject, listed, mayWrite, reachTo } from './subject.ts'

export function* elementIdentityHidden(subject: Subject): Generator<Finding> {
  for (const schema of subject.schemas) {
    for (const { path, constraints } of allFields(schema.root.fields)) {
      if (constraints.elementIdentity !== true) continue
      const array = path.slice(0, path.lastIndexOf('.*'))
      const blind = subject.roles.filter(
        (role) =>
          mayWrite(subject, schema, [role, array]) && reachTo(subject, schema, [role, 'find', path]) === 'no',
      )
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
