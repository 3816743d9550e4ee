/** `anyone` in a list of a write operation lets every client of the service change documents. */
import { roleOf } from '../../schema/field.ts'
import { isUnrestricted } from './restrictions.ts'
import type { Finding } from '../finding.ts'
import { type Subject } from './subject.ts'

export function* openWrites({ schemas }: Subject): Generator<Finding> {
  for (const { version, access } of schemas) {
    for (const operation of ['insert', 'update', 'delete'] as const) {
      const list = access[operation]
      const isOpen = list.some((entry) => roleOf(entry) === 'anyone' && isUnrestricted(entry))
      if (!isOpen || list.some((entry) => roleOf(entry) === 'noone')) continue
      yield {
        severity: 'warning',
        code: 'anyone-writes',
        at: `/schema/access/${operation}`,
        version,
        msg: `"anyone" may ${operation} documents, whoever reaches the service; name the roles that may instead`,
      }
    }
  }
}
