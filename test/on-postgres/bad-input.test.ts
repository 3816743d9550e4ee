/** Bad input, on PostgreSQL. */
/* eslint-disable import/no-unassigned-import -- the tests of other files are run by importing them */
import '../support/on-postgres.ts'
import '../bad-input/address.test.ts'
import '../bad-input/body.test.ts'
import '../bad-input/envelope.test.ts'
