/** The properties of SQLite's tables that the translation to SQL needs. */
import { SQLITE } from '../../sql/sqlite-dialect.ts'
import { raw } from '../../sql/fragment.ts'
import { type OtherRows, type Translation, typeOf } from '../../sql/translation.ts'
import type { Table } from '../catalogue.ts'
import { documentIn } from '../columns.ts'
import { indexConditionOf } from './index-conditions.ts'
import { isServed } from './planner-hints.ts'
import { scoreIn, searchIn } from './word-search.ts'

/** State that all parts of one statement share. */
export interface Writing {
  readonly alias: Translation['alias']
  /** Whether every loop checks that the caller still waits. */
  readonly isWatched: boolean
}

export function beginStatement(isWatched = false): Writing {
  let aliases = 0
  return { alias: (letter = 'e') => `${letter}${++aliases}`, isWatched }
}

/** `name` is the alias of the rows, where the statement reads several tables. */
export function translation(table: Table, { alias, isWatched }: Writing, name = ''): Translation {
  const qualifier = name === '' ? '' : `${name}.`
  return {
    dialect: SQLITE,
    scopes: [
      {
        ...documentIn(table.columns, qualifier),
        search: searchIn(table, qualifier),
        score: scoreIn(table, qualifier),
      },
    ],
    alias,
    other: (collection) => {
      const other = table.beside(collection)
      return other && otherRows(other, { alias, isWatched })
    },
    qualifier,
    version: raw(`${qualifier}version`),
    hasFoldedIndex: (path) => table.folded.has(path),
    elementsOf(field) {
      const elements = table.elements.get(field.path)
      // An index that is older than the record of the types of all versions has values in another form.
      return elements?.reading === typeOf(field) ? elements.name : undefined
    },
    foldedElementsOf: (path) => table.foldedElements.get(path),
    hint: indexConditionOf(table, qualifier),
    isWatched,
  }
}

function otherRows(table: Table, writing: Writing): OtherRows {
  return {
    table: table.name,
    columns: ['id', 'doc'],
    translation: (alias) => translation(table, writing, alias),
    isServed: (query) => isServed(query, table),
    isIndexed: ({ field }, type) =>
      typeOf(field) === type && (field.path === '_id' || table.firsts.has(field.path)),
  }
}
