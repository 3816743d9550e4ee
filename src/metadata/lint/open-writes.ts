/** `anyone` in a list of writes lets everybody change documents who reaches the service. */
import { type Finding, type Subject } from './subject.ts'

export function* openWrites({ schemas }: Subject): Generator<Finding> {
  for (const { version, access } of schemas) {
    for (const operation of ['insert', 'update', 'delete'] as const) {
      const list = access[operation]
      if (!list.includes('anyone') || list.includes('noone')) continue
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
