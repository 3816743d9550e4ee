/** Row rules, on PostgreSQL. */
/* eslint-disable import/no-unassigned-import -- the tests of other files are run by importing them */
import '../support/on-postgres.ts'
import '../access/row-rules.test.ts'
import '../access/field-rules.test.ts'
import '../access/row-rules-random.test.ts'
