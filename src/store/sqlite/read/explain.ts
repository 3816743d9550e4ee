/** SQLite's query plan, in terms of the declared indexes. */
import type { Json, JsonObject } from '../../../base/json/json.ts'
import type { ReadPlan } from '../../../plan/plan.ts'
import { describeIndex } from '../../sql/describe-index.ts'
import type { SqlValue, Statement } from '../../sql/fragment.ts'
import type { Explanation } from '../../store.ts'
import type { Table } from '../catalogue.ts'
import { isComplete } from '../records.ts'
import { type Statements, readStatements } from './reads.ts'

/** Counting the matches may take long, so the caller chooses where to run it. */
export function explanation(plan: ReadPlan, table: Table, statements: Statements) {
  const { page } = readStatements(plan, table)
  const { count } = readStatements(plan, table, true)
  return {
    count,
    finish: (matchCount: number, executionTimeMillis: number): Explanation =>
      explanationOf(page, { table, statements, matchCount, executionTimeMillis, returnsRows: true }),
  }
}

/** A statement whose plan can be shown once its results are counted. */
export interface Explaining {
  readonly count: () => Statement
  readonly finish: (matchCount: number, executionTimeMillis: number) => Explanation
}

interface Executed {
  readonly table: Table
  readonly statements: Statements
  readonly matchCount: number
  readonly executionTimeMillis: number
  /** Whether it returns documents. Groups may come from an index that is scanned. */
  readonly returnsRows?: boolean
}

export function explanationOf(
  { text, values }: Statement,
  { table, statements, matchCount, executionTimeMillis, returnsRows = false }: Executed,
): Explanation {
  const steps = statements.prepare(`explain query plan ${text}`).all(...values)
  return {
    query: { sql: text, parameters: values.map(toJson) },
    plan: {
      queryPlanner: {
        winningPlan: winningPlan(steps as unknown as Step[], table, returnsRows),
        layout: layoutRead(text, table),
      },
      executionStats: { executionSuccess: true, nReturned: matchCount, executionTimeMillis },
      serverInfo: { version: versionOf(statements) },
    },
    matchCount,
  }
}

export function explainRead(plan: ReadPlan, table: Table | undefined, statements: Statements): Explanation {
  if (!table) return NOTHING_STORED
  return explainHere(explanation(plan, table, statements), statements)
}

export function explainHere({ count, finish }: Explaining, statements: Statements): Explanation {
  const start = performance.now()
  const { text, values } = count()
  const [matchCount] = statements.prepare(text).get(...values) as unknown as [number]
  return finish(matchCount, Math.round(performance.now() - start))
}

export const NOTHING_STORED: Explanation = { query: { sql: '', parameters: [] }, plan: {}, matchCount: 0 }

type Step = readonly [id: number, parent: number, unused: number, detail: string]

function winningPlan(steps: readonly Step[], table: Table, returnsRows: boolean): JsonObject {
  const details = steps.map(([, , , detail]) => detail)
  // An index that is scanned and then sorted is only a smaller table.
  const isSorted = returnsRows && details.includes('USE TEMP B-TREE FOR ORDER BY')
  const scan = `SCAN ${table.name} `
  const serving = isSorted ? details.filter((detail) => !detail.startsWith(scan)) : details
  const used = serving.flatMap((detail) => indexesIn(detail, table))
  const isByPrimaryKey = details.some(
    (detail) =>
      detail.startsWith(`SEARCH ${table.name} `) &&
      (detail.includes('sqlite_autoindex') || detail.includes('PRIMARY KEY')),
  )
  const stage = used.length > 0 ? 'INDEX' : isByPrimaryKey ? 'ID' : 'SCAN'
  return { stage, indexes: used, steps: details }
}

function indexesIn(detail: string, table: Table): readonly JsonObject[] {
  const no = /\b(?:idx|words)_(\d+)/.exec(detail)?.[1]
  const index = table.indexes.get(Number(no)) ?? table.wordIndexes.get(Number(no))
  return index ? [describeIndex(index)] : []
}

/** What the statement reads of a row to find it: columns, and the text where no column holds a value. */
function layoutRead(text: string, table: Table): JsonObject {
  const named = new Set(text.match(/\bc\d+\b/g))
  const isParsed = (statement: string): boolean => PARSING.test(statement.replace(NUMERIC_ID, ''))
  return {
    columns: table.columns.filter(({ name }) => named.has(name)).map(({ path }) => path),
    parsesText: isParsed(text.replaceAll(LONG_TEXT, '')) ? 'always' : isParsed(text) ? 'longTexts' : 'never',
    ...(!isComplete(table) && { isBeingFilled: true }),
  }
}

const PARSING = /\bdoc(?:, '| -> )/
const LONG_TEXT = /case [\w.]+ when 1 then .*? else /g
/** Read of the documents that are returned, not to find them. */
const NUMERIC_ID = `doc -> '$."_id"', version`

function versionOf(statements: Statements): string {
  const [version] = statements.prepare('select sqlite_version()').get() as unknown as [string]
  return version
}

function toJson(value: SqlValue): Json {
  return typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value
}
