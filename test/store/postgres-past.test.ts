/** Past versions in the store on PostgreSQL. */
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { freshPlace } from '../support/store-kind.ts'
import { pastContract } from './past.ts'

pastContract('postgres', {
  freshPlace: () => freshPlace('postgres'),
  openAt: async (location, now) => openPostgresStore({ url: location, now }),
})
