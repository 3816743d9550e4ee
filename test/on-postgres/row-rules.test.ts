/** Row rules, on PostgreSQL. */
/* eslint-disable import/no-unassigned-import -- the tests of other files are run by importing them */
import '../support/on-postgres.ts'
import '../service/access/row-rules.test.ts'
import '../service/access/field-rules.test.ts'
import '../property/access/row-rules-random.test.ts'
