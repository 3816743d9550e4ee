/** Sinks of the kind nats, on PostgreSQL. */
/* eslint-disable import/no-unassigned-import -- the tests of other files are run by importing them */
import '../support/on-postgres.ts'
import '../process/nats/nats-service.test.ts'
