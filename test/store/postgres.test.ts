/** The store on PostgreSQL: the contract, references, watched changes, and past versions. */
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { freshPlace } from '../support/store-kind.ts'
import { storeContract } from './contract.ts'
import { eventContract } from './events.ts'
import { type OpenWithClock, pastContract } from './past.ts'
import { referenceContract } from './references.ts'

const postgres: OpenWithClock = {
  freshPlace: () => freshPlace('postgres'),
  openAt: async (location, now) => openPostgresStore({ url: location, ...(now && { now }) }),
}

storeContract('postgres', postgres)
referenceContract('postgres', postgres)
eventContract('postgres', postgres)
pastContract('postgres', postgres)
