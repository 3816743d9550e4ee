/** Streaming, on PostgreSQL. */
/* eslint-disable import/no-unassigned-import -- the tests of other files are run by importing them */
import '../support/on-postgres.ts'
import '../streaming/changed-access.test.ts'
import '../streaming/streaming.test.ts'
