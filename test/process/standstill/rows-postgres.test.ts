/** Requests that could stop the process, on PostgreSQL. */
import { testRows } from './rows.ts'

testRows('postgres')
