/**
 * A caller who may update the fields of a row rule, even in documents that the rule excludes, can make the
 * rule match.
 */
import { type Named, fieldsOf } from '../../lang/query.ts'
import { WHERE, YES } from '../../schema/reach.ts'
import { placedRules } from './placed-rules.ts'
import type { Finding } from '../finding.ts'
import { type Subject, listed, quoted, rankTo } from './subject.ts'

export function* ruleFieldWritable(subject: Subject): Generator<Finding> {
  for (const schema of subject.schemas) {
    for (const { query, role, operation, path, at } of placedRules(schema)) {
      if (operation === 'insert') continue
      const rank = rankTo(subject, schema, path === undefined ? [role, operation] : [role, operation, path])
      if (rank !== WHERE) continue
      const ruleFields = [...new Set([...fieldsOf<Named>(query)].map((field) => field.path))]
      const writable = ruleFields.filter((each) => rankTo(subject, schema, [role, 'update', each]) === YES)
      if (writable.length === 0) continue
      const what = path === undefined ? `${operation} documents` : `${operation} "${path}"`
      yield {
        severity: 'warning',
        code: 'rule-field-writable',
        at: `${at}/where`,
        version: schema.version,
        msg:
          `${listed([role])} may ${what} where this rule matches, but may update ${quoted(writable)} in every ` +
          'document, and so make it match; put the same rule into the list "update" of the entity, or keep the ' +
          'role from updating what the rule asks about',
      }
    }
  }
}
