/** The corpus, and that of updates, on PostgreSQL. */
/* eslint-disable import/no-unassigned-import -- the tests of other files are run by importing them */
import '../support/on-postgres.ts'
import '../corpus/language.test.ts'
import '../corpus/simple-find.test.ts'
import '../corpus/storing.test.ts'
import '../updates/updates.test.ts'
