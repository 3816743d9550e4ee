/** Looking back, on PostgreSQL. */
/* eslint-disable import/no-unassigned-import -- the tests of other files are run by importing them */
import '../support/on-postgres.ts'
import '../service/history.test.ts'
import '../service/http/history.test.ts'
