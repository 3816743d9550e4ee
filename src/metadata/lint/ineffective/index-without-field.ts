/** An index is built when a version defines its fields. */
import { pointer } from '../../../base/json/json.ts'
import type { Finding } from '../../finding.ts'
import { isIndexable } from '../../index-definitions.ts'
import type { Subject } from '../subject.ts'

export function* indexWithoutField({ info, versions }: Subject): Generator<Finding> {
  if (versions.length === 0) return
  for (const [i, { fields }] of info.indexes.entries()) {
    for (const [j, { field }] of fields.entries()) {
      if (isIndexable(field, versions)) continue
      const msg =
        `no version has the index field "${field}", so the index does not exist; it is built when a version defines ` +
        'the field: correct the path, or remove the index'
      const at = pointer(pointer(pointer('/entityInfo/indexes', i), 'fields'), j)
      yield { severity: 'warning', code: 'index-without-field', at, msg }
    }
  }
}
