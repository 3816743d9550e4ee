/** Watched changes in the store on PostgreSQL. */
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { freshPlace } from '../support/store-kind.ts'
import { eventContract } from './events.ts'

eventContract('postgres', {
  freshPlace: () => freshPlace('postgres'),
  openAt: async (location) => openPostgresStore({ url: location }),
})
