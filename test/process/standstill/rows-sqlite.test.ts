/** Requests that could stop the process, on SQLite. */
import { testRows } from './rows.ts'

testRows('sqlite')
