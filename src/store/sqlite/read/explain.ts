/** SQLite's query plan, in terms of the declared indexes. */
import type { Json, JsonObject } from '../../../base/json/json.ts'
import type { ReadPlan } from '../../../plan/plan.ts'
import { describeIndex } from '../../sql/describe-index.ts'
import type { SqlValue } from '../../sql/fragment.ts'
import type { Explanation } from '../../store.ts'
import type { Table } from '../catalogue.ts'
import { type Statements, readStatements } from './reads.ts'

/** Counting the matches may take long, so the caller chooses where to run it. */
export function explanation(plan: ReadPlan, table: Table, statements: Statements) {
  const { page } = readStatements(plan, table)
  const { count } = readStatements(plan, table, true)
  return {
    count,
    finish: (matchCount: number, executionTimeMillis: number): Explanation => {
      const steps = statements.prepare(`explain query plan ${page.text}`).all(...page.values)
      return {
        query: { sql: page.text, parameters: page.values.map(toJson) },
        plan: {
          queryPlanner: { winningPlan: winningPlan(steps as unknown as Step[], table) },
          executionStats: { executionSuccess: true, nReturned: matchCount, executionTimeMillis },
          serverInfo: { version: versionOf(statements) },
        },
        matchCount,
      }
    },
  }
}

export function explainRead(plan: ReadPlan, table: Table | undefined, statements: Statements): Explanation {
  if (!table) return NOTHING_STORED
  const { count, finish } = explanation(plan, table, statements)
  const start = performance.now()
  const { text, values } = count()
  const [matchCount] = statements.prepare(text).get(...values) as unknown as [number]
  return finish(matchCount, Math.round(performance.now() - start))
}

const NOTHING_STORED: Explanation = { query: { sql: '', parameters: [] }, plan: {}, matchCount: 0 }

type Step = readonly [id: number, parent: number, unused: number, detail: string]

function winningPlan(steps: readonly Step[], table: Table): JsonObject {
  const details = steps.map(([, , , detail]) => detail)
  const used = details.flatMap((detail) => indexesIn(detail, table))
  const isByPrimaryKey = details.some(
    (detail) =>
      detail.startsWith(`SEARCH ${table.name} `) &&
      (detail.includes('sqlite_autoindex') || detail.includes('PRIMARY KEY')),
  )
  const stage = used.length > 0 ? 'INDEX' : isByPrimaryKey ? 'ID' : 'SCAN'
  return { stage, indexes: used, steps: details }
}

function indexesIn(detail: string, table: Table): readonly JsonObject[] {
  const no = /\bidx_(\d+)/.exec(detail)?.[1]
  const index = no === undefined ? undefined : table.indexes.get(Number(no))
  return index ? [describeIndex(index)] : []
}

function versionOf(statements: Statements): string {
  const [version] = statements.prepare('select sqlite_version()').get() as unknown as [string]
  return version
}

function toJson(value: SqlValue): Json {
  return typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value
}
