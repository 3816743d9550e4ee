/** Access, on PostgreSQL. */
/* eslint-disable import/no-unassigned-import -- the tests of other files are run by importing them */
import '../support/on-postgres.ts'
import '../service/access/access.test.ts'
import '../service/access/oracles.test.ts'
import '../service/access/references.test.ts'
