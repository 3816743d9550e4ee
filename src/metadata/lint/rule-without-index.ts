/** Every request of a ruled caller asks the rule: without an index it looks at all documents. */
import { type Named, fieldsOf } from '../../lang/query.ts'
import type { Schema } from '../../schema/schema.ts'
import { placedRules } from './placed-rules.ts'
import { type Finding, type Subject, quoted } from './subject.ts'

export function* ruleWithoutIndex(subject: Subject): Generator<Finding> {
  for (const schema of subject.schemas) {
    const leading = leadingPaths(subject, schema)
    for (const { query, operation, path, at } of placedRules(schema)) {
      if (path !== undefined || operation === 'insert') continue
      const asked = [...new Set([...fieldsOf<Named>(query)].map((field) => field.path))]
      if (asked.length === 0 || asked.some((each) => leading.some((first) => serves(first, each)))) continue
      yield {
        severity: 'hint',
        code: 'rule-without-index',
        at: `${at}/where`,
        version: schema.version,
        msg:
          `no index begins with ${quoted(asked)}, so every request under this rule looks at all documents; add ` +
          'one to "indexes" of entity info',
      }
    }
  }
}

/** The fields that indexes begin with; identities are indexed as well. */
function leadingPaths({ info }: Subject, { identity }: Schema): readonly string[] {
  const declared = info.indexes.map(({ fields }) => fields[0]!.field)
  return ['_id', ...declared, ...identity.slice(0, 1).map(({ path }) => path)]
}

/** A rule may name an array where the index names its elements. */
function serves(first: string, asked: string): boolean {
  return first === asked || first.startsWith(`${asked}.`) || `${first}.*` === asked
}
