/**
 * Indexes into arrays: a table beside the documents with one row for each distinct element, written in the
 * transaction of the document. Conditions on elements are then as fast as on a plain field.
 */
import { type Path, type Step, isIntoArray, parsePath } from '../../../base/path.ts'
import type { IndexDefinition } from '../../../schema/schema.ts'
import type { Base } from '../../sql/dialect.ts'
import { type Fragment, join, raw, render, sql } from '../../sql/fragment.ts'
import { readAsOf } from '../../sql/read-as.ts'
import { DOCUMENT, SQLITE } from '../../sql/sqlite-dialect.ts'

export function goesIntoArray({ fields }: IndexDefinition): boolean {
  return fields.some(({ path }) => isIntoArray(path))
}

export interface ArrayIndex {
  readonly table: string
  /** What its rows are made of. */
  readonly paths: readonly Path[]
  readonly create: readonly string[]
  /** Inserts the elements of every document, or of the one whose number is bound. */
  readonly enterAll: string
  readonly enterOne: string
  readonly removeOne: string
  /** Whether `enterOne` replaces what the document had. */
  readonly isReplaced: boolean
}

export function arrayIndex(definition: IndexDefinition, documents: string, no: number): ArrayIndex {
  const table = `arr_${no}`
  const columns = definition.fields.map((_, i) => `k${i}`)
  const directed = columns.map(
    (column, i) => `${column} ${definition.fields[i]!.descending ? 'desc' : 'asc'}`,
  )
  // A blob stands for null, because no value is a blob: uniqueness then also applies to elements that lack
  // only some of the fields.
  const filled = columns.map((column) => `ifnull(${column}, x'')`)
  const { from, values } = elementRows(definition)
  const hasValue = join(
    values.map((value) => sql`${value} is not null`),
    ' or ',
  )
  const enter = (only: string): string =>
    text(
      sql`insert into ${raw(table)}(${raw(columns.join(', '))}, doc) select distinct ${join(values, ', ')}, no from ${raw(documents)} left join ${from} where ${raw(only)}(${hasValue})`,
    )
  return {
    table,
    paths: definition.fields.map(({ path }) => parsePath(path, '')),
    create: [
      `create table ${table}(${columns.join(', ')}, doc integer not null)`,
      `create index idx_${no} on ${table}(${directed.join(', ')}, doc)`,
      ...(definition.unique
        ? [`create unique index idx_${no}_unique on ${table}(${filled.join(', ')})`]
        : []),
      `create index idx_${no}_doc on ${table}(doc)`,
    ],
    enterAll: enter(''),
    enterOne: enter('no = ? and '),
    removeOne: `delete from ${table} where doc = ?`,
    isReplaced: false,
  }
}

/** The elements as rows, and the indexed values as columns; all fields are in the same array. */
function elementRows({ fields }: IndexDefinition): { from: Fragment; values: readonly Fragment[] } {
  const paths = fields.map(({ path }) => parsePath(path, ''))
  const deepest = paths.toSorted((a, b) => stars(b) - stars(a))[0]!
  const tables: Fragment[] = []
  const document = { json: DOCUMENT.json, present: DOCUMENT.present }
  const bases: { readonly steps: readonly Step[]; readonly base: Base }[] = [{ steps: [], base: document }]
  for (const [i, step] of deepest.entries()) {
    if (step !== '*') continue
    const outer = bases.at(-1)!
    const { from, element } = SQLITE.each(outer.base, deepest.slice(outer.steps.length, i), {
      alias: `e${i}`,
      isMixed: fields.some((field) => field.isMixed),
    })
    tables.push(from)
    bases.push({ steps: deepest.slice(0, i + 1), base: element })
  }
  const values = fields.map(({ type, isMixed, caseInsensitive }, i) => {
    const steps = paths[i]!
    const { base, steps: passed } = bases.findLast((each) => isPrefix(each.steps, steps))!
    const value = SQLITE.read(base, steps.slice(passed.length), readAsOf(type, isMixed))
    return caseInsensitive ? SQLITE.fold(value) : value
  })
  // Outer joins, because an element without the inner array still has its other fields.
  return { from: join(tables, ' left join '), values }
}

function stars(path: readonly Step[]): number {
  return path.filter((step) => step === '*').length
}

function isPrefix(prefix: readonly Step[], path: readonly Step[]): boolean {
  return prefix.every((step, i) => step === path[i])
}

function text(fragment: Fragment): string {
  return render(fragment, SQLITE.placeholder).text
}
