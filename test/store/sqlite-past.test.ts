/** Past versions in the embedded store. */
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { directoryOf, freshPlace } from '../support/store-kind.ts'
import { pastContract } from './past.ts'

pastContract('sqlite', {
  freshPlace: () => freshPlace('sqlite'),
  openAt: async (location, now) => openSqliteStore({ directory: directoryOf(location), now }),
})
