/** The published interface, on PostgreSQL. */
/* eslint-disable import/no-unassigned-import -- the tests of other files are run by importing them */
import '../support/on-postgres.ts'
import '../seed/bulk.test.ts'
import '../seed/explain.test.ts'
import '../seed/find.test.ts'
import '../seed/generate.test.ts'
import '../seed/insert.test.ts'
import '../seed/metadata.test.ts'
import '../seed/service.test.ts'
import '../seed/simple-find.test.ts'
import '../seed/write.test.ts'
