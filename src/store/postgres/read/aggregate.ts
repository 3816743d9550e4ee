/** Aggregates: one statement reads the rows, groups them, and returns the page of groups. */
import { type AggregatePlan, lastGroupOf } from '../../../plan/aggregate.ts'
import { type ZoneTable, zoneTable } from '../../../schema/periods/zone-table.ts'
import {
  type AggregateContext,
  aggregateStatement,
  groupFrom,
  hasLinks,
} from '../../sql/aggregate/aggregate.ts'
import { postgresAggregates } from '../../sql/aggregate/postgres-aggregate.ts'
import { zoneColumns } from '../../sql/aggregate/postgres-period.ts'
import type { Fragment, Statement } from '../../sql/fragment.ts'
import { mentionsOthers } from '../../sql/joining.ts'
import type { BeginGroups, Explanation, Found } from '../../store.ts'
import { MAX_AT_ONCE } from '../connection/collect-rows.ts'
import type { Connection, SqlSession } from '../connection/connection.ts'
import type { Row } from '../connection/connections.ts'
import { pieces } from '../connection/cursor.ts'
import { ResultTooLarge } from '../connection/failures.ts'
import type { Table } from '../schema/catalogue.ts'
import { NOTHING_STORED, explanationOf } from './explain.ts'
import { pushdownTo } from './pushdown.ts'
import { conditionOf, print, window } from './reads.ts'
import { beginStatement, translation } from './translate.ts'

export interface Aggregating {
  readonly table: Table | undefined
  readonly begin: BeginGroups
}

/** Not on a cluster, which cannot group rows of joined tables. */
export function canAggregate({ aggregation }: AggregatePlan, isCluster: boolean): boolean {
  const { answers } = pushdownTo({ isDistributed: isCluster })
  return !isCluster && aggregation.chain.every((link) => link.kind === 'elements' || answers(link.query))
}

/** Collects the page in memory; undefined when it is too large, and then no group was passed on. */
export async function aggregateAtOnce(
  connection: Connection,
  plan: AggregatePlan,
  aggregating: Aggregating,
): Promise<Found | undefined> {
  const { table, begin } = aggregating
  if (!table) return { matchCount: 0 }
  const reading = await readingOf(plan, table)
  try {
    const rows = await groupsAtOnce(connection, reading)
    const counted = await countOf(connection, reading, rows.at(-1))
    // Groups are passed on only after both statements have succeeded: until then, a failed read is repeated.
    const onGroup = begin()
    for (const row of rows) onGroup(groupFrom(row, plan.aggregation))
    return counted
  } catch (error) {
    if (!(error instanceof ResultTooLarge)) throw error
    return undefined
  }
}

/**
 * Groups by the columns of texts, which an index may have, and once more by the whole texts if a group turns out to be one
 * of texts that are cut.
 */
async function groupsAtOnce(connection: Connection, reading: Reading): Promise<readonly Row[]> {
  const { plan } = reading
  const ask = (statement: Statement): Promise<readonly Row[]> =>
    connection.queryAtMost(MAX_AT_ONCE, statement)
  const byColumns = isGroupedByColumns(plan) ? pageOf(reading, false) : undefined
  if (!byColumns || lastCut.has(byColumns.text)) return await ask(pageOf(reading))
  const rows = await ask(byColumns)
  // There may be more groups of whole texts, so that a page after the last group may not be empty.
  const isWhole = rows.length === 0 ? plan.from === 0 : !hasCut(rows[0]!, plan)
  if (isWhole) return rows
  if (lastCut.size >= MAX_TEXTS) lastCut.clear()
  lastCut.add(byColumns.text)
  return await ask(pageOf(reading))
}

/** Not if a condition on the groups may leave out the one that tells. */
function isGroupedByColumns({ aggregation: { keys, having } }: AggregatePlan): boolean {
  return keys.length > 0 && !having
}

function hasCut(row: Row, { aggregation: { results } }: AggregatePlan): boolean {
  return row.length > results.length + 1 && row[results.length] !== null
}

/** Texts of statements that had to be repeated the last time. */
const lastCut = new Set<string>()
const MAX_TEXTS = 1_000

/** Inside a transaction: passes on the groups piece by piece, so that few are in memory at a time. */
export async function aggregateByPieces(
  session: SqlSession,
  plan: AggregatePlan,
  { table, begin }: Aggregating,
): Promise<Found> {
  if (!table) return { matchCount: 0 }
  const reading = await readingOf(plan, table)
  const onGroup = begin()
  let last: Row | undefined
  for await (const rows of pieces(session, pageOf(reading))) {
    for (const row of rows) onGroup(groupFrom(row, plan.aggregation))
    last = rows.at(-1)
  }
  return await countOf(session, reading, last)
}

export async function explainGroups(
  session: SqlSession,
  plan: AggregatePlan,
  table: Table | undefined,
): Promise<Explanation> {
  if (!table) return NOTHING_STORED
  const reading = await readingOf(plan, table)
  const count = async (): Promise<number> => {
    const [row] = await session.query(write(reading))
    return Number(row![0])
  }
  return await explanationOf(session, pageOf(reading, !isGroupedByColumns(plan)), { table, count })
}

/** Each row of the page has the number of all groups; an empty page does not. */
async function countOf(session: SqlSession, reading: Reading, last: Row | undefined): Promise<Found> {
  const { plan } = reading
  if (last) return { matchCount: Number(last.at(-1)) }
  if (plan.from === 0 && lastGroupOf(plan) >= 0) return { matchCount: 0 }
  const [row] = await session.query(write(reading))
  return { matchCount: Number(row![0]) }
}

interface Reading {
  readonly plan: AggregatePlan
  readonly table: Table
  /** By name. */
  readonly zones: ReadonlyMap<string, ZoneTable>
}

async function readingOf(plan: AggregatePlan, table: Table): Promise<Reading> {
  const zones = new Map<string, ZoneTable>()
  for (const { truncate } of plan.aggregation.keys) {
    const timeZone = truncate?.timeZone
    if (timeZone !== undefined) zones.set(timeZone, await zoneTable(timeZone))
  }
  return { plan, table, zones }
}

function pageOf(reading: Reading, isWhole = true): Statement {
  const { plan } = reading
  return write(reading, { isWhole, page: window({ from: plan.from, to: lastGroupOf(plan) }) })
}

interface WritingGroups {
  /** Whether texts are grouped as a whole. */
  readonly isWhole: boolean
  readonly page?: Fragment
}

/** Without a page, the statement counts the groups. */
function write(
  { plan, table, zones }: Reading,
  { isWhole, page }: WritingGroups = { isWhole: true },
): Statement {
  const { query, idType } = plan
  const writing = beginStatement()
  const documents = { table, idType }
  const isQualified = hasLinks(plan) || (query !== undefined && mentionsOthers(query))
  const name = isQualified ? table.name : ''
  const condition = conditionOf(query, documents, writing, name)
  const names = new Map([...zones.keys()].map((timeZone, i) => [timeZone, `zone${i}`]))
  for (const [timeZone, zone] of zones) writing.putInFront(names.get(timeZone)!, zoneColumns(zone))
  const context: AggregateContext = {
    dialect: postgresAggregates({ isWhole, zone: (timeZone) => names.get(timeZone)! }),
    table: table.name,
    translation: translation(documents, writing, name),
    terms: condition ? [condition] : [],
    finish: (statement, grouped) => {
      writing.putInFront(grouped.name, grouped.select)
      return writing.finish(statement)
    },
  }
  return print(aggregateStatement(plan, context, page))
}
