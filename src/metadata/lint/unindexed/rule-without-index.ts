/** Every request of a restricted caller includes the row rule: without an index it reads all documents. */
import { isEverything } from '../constant-queries.ts'
import { servedPaths } from './leading-keys.ts'
import { placedRules } from '../placed-rules.ts'
import type { Finding } from '../../finding.ts'
import { servedQuery } from './served-query.ts'
import { type Subject, quoted } from '../subject.ts'

/** Rules of single fields are left out: they hide values, or refuse a request, and do not decide which documents are read. */
export function* ruleWithoutIndex(subject: Subject): Generator<Finding> {
  for (const schema of subject.schemas) {
    const hasIndex = servedPaths(subject.info, schema)
    for (const { query, where, operation, path, at } of placedRules(schema)) {
      if (path !== undefined || operation === 'insert' || isEverything(query)) continue
      const { isServed, paths } = servedQuery(where, hasIndex)
      if (isServed || paths.length === 0) continue
      yield {
        severity: 'hint',
        code: 'rule-without-index',
        at: `${at}/where`,
        version: schema.version,
        msg:
          `no index serves the rule, which compares ${quoted(paths)}, so every request under this rule looks at all ` +
          'documents; each alternative of a rule needs a condition such as "=" on a field with which an index begins; add one ' +
          'to "indexes" of entity info',
      }
    }
  }
}
