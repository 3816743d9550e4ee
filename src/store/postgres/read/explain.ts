/** Explains a find: PostgreSQL's plan, in terms of the declared indexes. */
import { type Json, type JsonObject, isArray, isObject } from '../../../base/json/json.ts'
import { printQuery } from '../../../lang/query.ts'
import type { ReadPlan } from '../../../plan/plan.ts'
import { describeIndex } from '../../sql/describe-index.ts'
import type { Statement } from '../../sql/fragment.ts'
import type { Explanation } from '../../store.ts'
import type { Table } from '../schema/catalogue.ts'
import { type Layout, isComplete } from '../schema/columns.ts'
import type { SqlSession } from '../connection/connection.ts'
import { pushdownTo } from './pushdown.ts'
import type { ReadStatements } from './reads.ts'

export const NOTHING_STORED: Explanation = { query: { sql: '', parameters: [] }, plan: {}, matchCount: 0 }

interface Explaining {
  readonly table: Table
  readonly count: () => Promise<number>
  /** Added to the plan of the engine. */
  readonly beside?: JsonObject
}

export async function explainPage(
  session: SqlSession,
  plan: ReadPlan,
  { table, read, count }: Explaining & { readonly read: ReadStatements },
): Promise<Explanation> {
  return await explanationOf(session, read.page, { table, count, beside: residualOf(plan, table) })
}

export async function explanationOf(
  session: SqlSession,
  { text, values }: Statement,
  { table, count, beside = {} }: Explaining,
): Promise<Explanation> {
  const [row] = await session.query({ text: `explain (format json) ${text}`, values })
  const nodes = nodesOf(JSON.parse(row![0]!) as Json)
  const start = performance.now()
  const matchCount = await count()
  const executionTimeMillis = Math.round(performance.now() - start)
  const [version] = await session.query({ text: 'show server_version', values: [] })
  return {
    query: { sql: text, parameters: [...values] as Json[] },
    plan: {
      queryPlanner: {
        winningPlan: winningPlan(nodes, table),
        layout: layoutIn(text, table.layout),
        ...beside,
      },
      executionStats: { executionSuccess: true, nReturned: matchCount, executionTimeMillis },
      serverInfo: { version: version![0]! },
    },
    matchCount,
  }
}

/** What the statement reads of a row: columns, and the text of the document where no column holds a value. */
function layoutIn(text: string, { hasBody, columns }: Layout): JsonObject {
  const named = new Set(text.match(/\bc\d+\b/g))
  const read = columns.filter(({ name }) => named.has(name))
  const isDecoded = text.replaceAll(CUT_TEXT, '').includes('doc::jsonb')
  return {
    columns: read.map(({ path }) => path),
    parsesText: isDecoded ? 'always' : text.includes('doc::jsonb') ? 'longTexts' : 'never',
    ...(!isComplete({ hasBody, columns }) && { isBeingFilled: true }),
  }
}

/** The text of a document is read only where a column holds a part of the value. */
const CUT_TEXT = /case when char_length\([^)]*\) > \d+ then .*? else /g

/** The part of the query that the service evaluates itself, because its meaning in the engine is different. */
function residualOf({ query, asOf }: ReadPlan, table: Table): JsonObject {
  const residual = query && pushdownTo(table, asOf).split(query).residual
  return residual ? { residual: printQuery(residual) } : {}
}

/** On a cluster, the plans of the nodes are nested inside the plan; all of them are included. */
function nodesOf(value: Json): readonly JsonObject[] {
  if (isArray(value)) return value.flatMap(nodesOf)
  if (!isObject(value)) return []
  const own = typeof value['Node Type'] === 'string' ? [value] : []
  return [...own, ...Object.values(value).flatMap(nodesOf)]
}

function winningPlan(nodes: readonly JsonObject[], table: Table): JsonObject {
  const indexes = [...new Set(nodes.map(indexNameOf))].flatMap((name) => {
    const no = /^idx_(\d+)/.exec(name)?.[1]
    const index = table.indexes.get(Number(no)) ?? table.wordIndexes.get(Number(no))
    return index ? [describeIndex(index)] : []
  })
  const isById = nodes.some((node) => isKeyOf(table, indexNameOf(node)) && 'Index Cond' in node)
  const stage = indexes.length > 0 ? 'INDEX' : isById ? 'ID' : 'SCAN'
  return { stage, indexes, steps: nodes.map((node) => textAt(node, 'Node Type')) }
}

/** The index keeps its first name when the table is renamed. */
function isKeyOf({ no }: Table, index: string): boolean {
  return index.startsWith(`doc_${no}_`) && index.includes('pkey')
}

function indexNameOf(node: JsonObject): string {
  return textAt(node, 'Index Name')
}

function textAt(node: JsonObject, name: string): string {
  const value = node[name]
  return typeof value === 'string' ? value : ''
}
