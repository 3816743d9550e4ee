/** Streaming, on PostgreSQL. */
/* eslint-disable import/no-unassigned-import -- the tests of other files are run by importing them */
import '../support/on-postgres.ts'
import '../service/streaming/changed-access.test.ts'
import '../service/streaming/streaming.test.ts'
