/** The store on PostgreSQL: the contract, and references. */
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { freshPlace } from '../support/store-kind.ts'
import { type OpenStore, storeContract } from './contract.ts'
import { referenceContract } from './references.ts'

const postgres: OpenStore = {
  freshPlace: () => freshPlace('postgres'),
  openAt: async (location) => openPostgresStore({ url: location }),
}

storeContract('postgres', postgres)
referenceContract('postgres', postgres)
