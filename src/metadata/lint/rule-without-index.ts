/** Every request of a restricted caller includes the row rule: without an index it reads all documents. */
import { type Named, fieldsOf } from '../../lang/query.ts'
import { servedPaths } from './leading-keys.ts'
import { placedRules } from './placed-rules.ts'
import type { Finding } from '../finding.ts'
import { type Subject, quoted } from './subject.ts'

export function* ruleWithoutIndex(subject: Subject): Generator<Finding> {
  for (const schema of subject.schemas) {
    const isServed = servedPaths(subject.info, schema)
    for (const { query, operation, path, at } of placedRules(schema)) {
      if (path !== undefined || operation === 'insert') continue
      const ruleFields = [...new Set([...fieldsOf<Named>(query)].map((field) => field.path))]
      if (ruleFields.length === 0 || ruleFields.some(isServed)) continue
      yield {
        severity: 'hint',
        code: 'rule-without-index',
        at: `${at}/where`,
        version: schema.version,
        msg:
          `no index begins with ${quoted(ruleFields)}, so every request under this rule looks at all documents; add ` +
          'one to "indexes" of entity info',
      }
    }
  }
}
