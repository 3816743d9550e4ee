/** Our functions in SQLite. Deterministic ones may be used in indexes; they depend on nothing but their arguments. */
import type { DatabaseSync } from 'node:sqlite'
import { orderKey } from '../../../base/decimal.ts'
import { type Pattern, compilePattern } from '../../../base/pattern.ts'
import { foldCase } from '../../../base/text.ts'
import { spend } from '../../../base/work/work.ts'
import { addAggregateFunctions } from './aggregate-functions.ts'
import { sizeError } from './failures.ts'
import { addWordFunctions } from './word-functions.ts'

/** `checkAlive` throws to end a watched statement; it is called for every row that such a statement visits. */
export function addFunctions(database: DatabaseSync, checkAlive: () => void): void {
  const options = { deterministic: true } as const
  database.function('smalt_number', options, (text) => (typeof text === 'string' ? orderKey(text) : null))
  database.function('smalt_fold', options, (text) => (typeof text === 'string' ? foldCase(text) : null))
  addAggregateFunctions(database)
  addWordFunctions(database)
  database.function('smalt_alive', {}, (_row) => {
    checkAlive()
    spend(STEPS_PER_ROW)
    return 1
  })
  addRoom(database)
  database.function('smalt_match', options, (text, pattern, flags) => {
    if (typeof text !== 'string') return null
    return patternOf(String(pattern), String(flags)).occursIn(text) ? 1 : 0
  })
}

/** Adds up what a statement has in memory to group its rows, and ends it if that is too much. */
function addRoom(database: DatabaseSync): void {
  let current: { readonly statement: unknown; bytes: number } = { statement: undefined, bytes: 0 }
  database.function('smalt_room', {}, (statement, bytes) => {
    if (statement !== current.statement) current = { statement, bytes: 0 }
    current.bytes += Number(bytes)
    if (current.bytes > MAX_GROUPED_BYTES) throw sizeError()
    return 1
  })
}

const MAX_GROUPED_BYTES = 256 * 1024 * 1024

/** The cost of reading a row and evaluating its document. */
const STEPS_PER_ROW = 20

function patternOf(source: string, letters: string): Pattern {
  return compilePattern(source, {
    caseInsensitive: letters.includes('i'),
    multiline: letters.includes('m'),
    extended: letters.includes('x'),
    dotall: letters.includes('s'),
  })!
}
