/** The store on PostgreSQL: the contract. */
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { freshPlace } from '../support/store-kind.ts'
import { storeContract } from './contract.ts'

storeContract('postgres', {
  freshPlace: () => freshPlace('postgres'),
  openAt: async (location) => openPostgresStore({ url: location }),
})
