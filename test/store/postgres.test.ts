/** The store on PostgreSQL: the contract, references, watched changes, and past versions. */
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { unlessOnCitus } from '../support/citus.ts'
import { toEarlierLayout } from '../support/earlier-layout.ts'
import { rowsOf } from '../support/postgres.ts'
import { freshPlace } from '../support/store-kind.ts'
import { storeContract } from './contract.ts'
import { eventContract } from './events.ts'
import { type OpenWithClock, pastContract } from './past.ts'
import { referenceContract } from './references.ts'
import { sharedStatesContract } from './shared-states.ts'

const postgres: OpenWithClock = {
  freshPlace: () => freshPlace('postgres'),
  openAt: async (location, now) => openPostgresStore({ url: location, ...(now && { now }) }),
}

storeContract('postgres', postgres)
unlessOnCitus('joins', () => referenceContract('postgres', postgres))
eventContract('postgres', postgres)
pastContract('postgres', postgres)
sharedStatesContract('postgres', {
  ...postgres,
  async downgrade({ location }) {
    await toEarlierLayout(location)
    await rowsOf(location, (schema) => `drop table ${schema}.smalt_answer`)
    await rowsOf(location, (schema) => `alter table ${schema}.smalt_outbox drop column holder`)
    await rowsOf(location, (schema) => `delete from ${schema}.smalt_release where format > 3`)
  },
  async bytesOfStates({ location }) {
    const bytes = 'sum(coalesce(octet_length(before), 0) + coalesce(octet_length(after), 0))'
    const [row] = await rowsOf(location, (schema) => `select ${bytes} bytes from ${schema}.smalt_outbox`)
    return Number(row!['bytes'])
  },
})
