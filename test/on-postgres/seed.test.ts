/** The published interface, on PostgreSQL. */
/* eslint-disable import/no-unassigned-import -- the tests of other files are run by importing them */
import '../support/on-postgres.ts'
import '../service/seed/bulk.test.ts'
import '../service/seed/explain.test.ts'
import '../service/seed/find.test.ts'
import '../service/seed/generate.test.ts'
import '../service/seed/insert.test.ts'
import '../service/seed/metadata.test.ts'
import '../service/seed/service.test.ts'
import '../service/seed/simple-find.test.ts'
import '../service/seed/write.test.ts'
