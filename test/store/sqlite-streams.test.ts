/** Streams of the embedded store. */
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { directoryOf, freshPlace } from '../support/store-kind.ts'
import { streamContract } from './streams.ts'

streamContract('sqlite', {
  freshPlace: () => freshPlace('sqlite'),
  openAt: async (location) => openSqliteStore({ directory: directoryOf(location) }),
})
