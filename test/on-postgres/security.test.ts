/** The attacks that reach the store, on PostgreSQL. */
/* eslint-disable import/no-unassigned-import -- the tests of other files are run by importing them */
import '../support/on-postgres.ts'
import '../service/security/explain.test.ts'
import '../service/security/hidden-values.test.ts'
import '../service/security/numbers.test.ts'
import '../service/security/policy.test.ts'
import '../service/security/races.test.ts'
import '../service/security/stored-names.test.ts'
import '../service/security/versions.test.ts'
import '../service/security/writes.test.ts'
