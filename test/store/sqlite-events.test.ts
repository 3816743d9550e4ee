/** Watched changes in the embedded store. */
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { directoryOf, freshPlace } from '../support/store-kind.ts'
import { eventContract } from './events.ts'

eventContract('sqlite', {
  freshPlace: () => freshPlace('sqlite'),
  openAt: async (location) => openSqliteStore({ directory: directoryOf(location) }),
})
