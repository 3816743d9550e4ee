/** Describes PostgreSQL's tables to the translation of queries to SQL. */
import type { Query } from '../../../lang/query.ts'
import type { FieldRef } from '../../../lang/resolve/scope.ts'
import type { TypeName } from '../../../schema/types.ts'
import { comparand, comparands } from '../../sql/comparands.ts'
import type { Base } from '../../sql/dialect.ts'
import { type Fragment, join, raw, sql } from '../../sql/fragment.ts'
import { POSTGRES } from '../../sql/postgres-dialect.ts'
import type { OtherRows, Translation } from '../../sql/translation.ts'
import type { Table } from '../schema/catalogue.ts'
import { indexConditionsOf, isServed, textIndexAt } from './index-conditions.ts'
import { columnNames } from '../schema/columns.ts'
import { boundedSize } from './statement-size.ts'
import { type Columns, columnsOf, isText } from '../schema/indexes.ts'

/** The state that all parts of one statement share. */
export interface Writing {
  readonly alias: Translation['alias']
  readonly putInFront: NonNullable<Translation['putInFront']>
  readonly size: NonNullable<Translation['size']>
  /** Puts the common table expressions that were added so far in front of the statement. */
  readonly finish: (statement: Fragment) => Fragment
}

export function beginStatement(): Writing {
  let aliases = 0
  const inFront: Fragment[] = []
  return {
    alias: (letter = 'e') => `${letter}${++aliases}`,
    putInFront: (name, select) => void inFront.push(sql`${raw(name)} as (${select})`),
    size: boundedSize(),
    finish: (statement) => (inFront.length === 0 ? statement : sql`with ${join(inFront, ', ')} ${statement}`),
  }
}

/** A table, and the type of its documents' ids. */
export interface Documents {
  readonly table: Table
  readonly idType: TypeName
}

/** `name` qualifies the columns, where the statement reads other tables too. */
export function translation({ table, idType }: Documents, writing: Writing, name = ''): Translation {
  const { alias, putInFront, size } = writing
  const qualifier = name === '' ? '' : `${name}.`
  const columns = columnsOf(table.layout, qualifier)
  return {
    dialect: POSTGRES,
    scopes: [documentIn(columns, { table, idType })],
    alias,
    other: (collection, otherIdType) => {
      const other = table.beside(collection)
      return other && otherRows({ table: other, idType: otherIdType }, writing)
    },
    putInFront,
    size,
    again: otherRows({ table, idType }, writing),
    qualifier,
    version: raw(`${qualifier}version`),
    paths: raw(`${qualifier}paths`),
    hasFoldedIndex: () => false,
    elementsOf: () => undefined,
    foldedElementsOf: () => undefined,
    hint: indexConditionsOf(table, columns),
    indexed: (query) => indexedTerm(query, table, columns),
    isWatched: false,
    isFlat: table.isDistributed,
  }
}

export function hasTextId(idType: TypeName): boolean {
  return idType === 'string' || idType === 'uid' || idType === 'date'
}

function documentIn({ document, id }: Columns, { table, idType }: Documents): Base {
  const indexedForm: Base['indexedForm'] = (path, type) =>
    isText(type) ? table.texts.get(path)?.form : undefined
  if (!hasTextId(idType)) return { ...document, indexedForm }
  return { ...document, indexedForm, columns: new Map([['_id', id]]) }
}

/**
 * A comparison that its index decides alone, because the value is shorter than the indexed part of a text.
 * Comparing the documents too would read each of them, and make the planner expect far too few rows.
 */
function indexedTerm(term: Query<FieldRef>, table: Table, columns: Columns): Fragment | undefined {
  if (term.kind !== 'compare' && term.kind !== 'in') return undefined
  const { field } = term.field
  const index = textIndexAt(term.field, table)
  // The index may be older than the version that defined the field with another kind.
  if (!index || field.isMixed || field.kind !== 'simple' || !isText(field.type.name)) return undefined
  const compared = term.kind === 'in' ? comparands(term.values) : comparand(term.value)
  const areShort = compared?.areTexts() && compared.maxCharacters() < index.length
  return areShort ? indexConditionsOf(table, columns)(term) : undefined
}

function otherRows(documents: Documents, writing: Writing): OtherRows {
  const { table, idType } = documents
  return {
    table: table.name,
    columns: ['id', ...columnNames(table.layout)],
    translation: (alias) => translation(documents, writing, alias),
    isServed: (query) => isServed(query, table),
    isIndexed: ({ field }) => (field.path === '_id' && hasTextId(idType)) || table.firsts.has(field.path),
  }
}
