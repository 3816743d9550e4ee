/** Access, on PostgreSQL. */
/* eslint-disable import/no-unassigned-import -- the tests of other files are run by importing them */
import '../support/on-postgres.ts'
import '../access/access.test.ts'
import '../access/oracles.test.ts'
import '../access/references.test.ts'
