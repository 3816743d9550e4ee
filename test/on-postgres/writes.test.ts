/** Writes, on PostgreSQL. */
/* eslint-disable import/no-unassigned-import -- the tests of other files are run by importing them */
import '../support/on-postgres.ts'
import '../service/writes/bulk.test.ts'
import '../service/writes/current.test.ts'
import '../service/writes/limits.test.ts'
import '../service/writes/made-values.test.ts'
import '../service/writes/removal.test.ts'
import '../service/writes/save.test.ts'
import '../service/writes/update-access.test.ts'
import '../service/writes/versions.test.ts'
