/** Reading and following events, on PostgreSQL. */
/* eslint-disable import/no-unassigned-import -- the tests of other files are run by importing them */
import '../support/on-postgres.ts'
import '../service/http/events.test.ts'
import '../service/http/events-paging.test.ts'
import '../service/http/events-stream.test.ts'
import '../service/events.test.ts'
import '../service/events-hub.test.ts'
