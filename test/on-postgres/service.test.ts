/** What the service does beside documents, on PostgreSQL. */
/* eslint-disable import/no-unassigned-import -- the tests of other files are run by importing them */
import '../support/on-postgres.ts'
import '../service/faults.test.ts'
import '../service/ids.test.ts'
import '../service/indexes.test.ts'
import '../service/locks.test.ts'
import '../service/saved-search.test.ts'
import '../service/versions.test.ts'
