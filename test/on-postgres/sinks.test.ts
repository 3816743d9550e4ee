/** Sinks, on PostgreSQL; that processes share the work and take over from each other is in `test/sinks`. */
/* eslint-disable import/no-unassigned-import -- the tests of other files are run by importing them */
import '../support/on-postgres.ts'
import '../service/http/sinks.test.ts'
import '../service/http/sinks-failing.test.ts'
import '../service/sinks.test.ts'
