/**
 * The entry point of the library. It checks the version of Node.js before it imports the rest, which an older version
 * could not parse. `library.ts` lists what there is.
 */
export type * from './library.ts'

/** The same as `engines` in package.json. */
const OLDEST_NODE = 24

if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
  throw new Error(`smalt: Node.js ${OLDEST_NODE} or newer is needed, but this is ${process.versions.node}`)
}

const library = await import('./library.ts')

export const {
  DEFAULT_LIMITS,
  OpenError,
  OpenNetworkError,
  PERMISSIONS,
  ServiceError,
  createAuthentication,
  createLog,
  createMetrics,
  filterToQuery,
  logTo,
  openMode,
  openService,
  printResponse,
  queryToFilter,
  readSink,
  startServer,
} = library

// the names of classes are types, too
export type OpenError = InstanceType<typeof OpenError>
export type OpenNetworkError = InstanceType<typeof OpenNetworkError>
export type ServiceError = InstanceType<typeof ServiceError>
