/**
 * The HTTP modules of Node.js. An import of `node:http` runs every getter of the module, and one of them loads a whole
 * HTTP client that nothing here uses: a tenth of the time of a start.
 */
type HttpModule = typeof import('node:http')
type HttpsModule = typeof import('node:https')

export function httpModule(protocol: 'http:'): HttpModule
export function httpModule(protocol: 'https:'): HttpsModule
export function httpModule(protocol: string): HttpModule | HttpsModule
export function httpModule(protocol: string): HttpModule | HttpsModule {
  return process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http')
}
