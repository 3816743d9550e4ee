/** The attacks that reach the store, on PostgreSQL. */
/* eslint-disable import/no-unassigned-import -- the tests of other files are run by importing them */
import '../support/on-postgres.ts'
import '../security/explain.test.ts'
import '../security/hidden-values.test.ts'
import '../security/numbers.test.ts'
import '../security/policy.test.ts'
import '../security/races.test.ts'
import '../security/stored-names.test.ts'
import '../security/versions.test.ts'
import '../security/writes.test.ts'
