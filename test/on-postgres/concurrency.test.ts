/** Concurrency, on PostgreSQL. */
/* eslint-disable import/no-unassigned-import -- the tests of other files are run by importing them */
import '../support/on-postgres.ts'
import '../process/concurrency/interleavings.test.ts'
import '../process/concurrency/metadata-race.test.ts'
