/** Writes, on PostgreSQL. */
/* eslint-disable import/no-unassigned-import -- the tests of other files are run by importing them */
import '../support/on-postgres.ts'
import '../writes/bulk.test.ts'
import '../writes/current.test.ts'
import '../writes/limits.test.ts'
import '../writes/made-values.test.ts'
import '../writes/removal.test.ts'
import '../writes/save.test.ts'
import '../writes/update-access.test.ts'
import '../writes/versions.test.ts'
