/** The corpus, and that of updates, on PostgreSQL. */
/* eslint-disable import/no-unassigned-import -- the tests of other files are run by importing them */
import '../support/on-postgres.ts'
import '../service/corpus/language.test.ts'
import '../service/corpus/simple-find.test.ts'
import '../service/corpus/storing.test.ts'
import '../service/updates/updates.test.ts'
