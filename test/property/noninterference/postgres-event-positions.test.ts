/** Positions in the log of events, on PostgreSQL. */
/* eslint-disable import/no-unassigned-import -- the tests of other files are run by importing them */
import '../../support/on-postgres.ts'
import './event-positions.test.ts'
