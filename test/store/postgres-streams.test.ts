/** Streams of PostgreSQL. */
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { freshPlace } from '../support/store-kind.ts'
import { streamContract } from './streams.ts'

streamContract('postgres', {
  freshPlace: () => freshPlace('postgres'),
  openAt: async (url) => openPostgresStore({ url }),
})
