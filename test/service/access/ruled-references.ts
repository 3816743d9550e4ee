/** Roles and access lists for tests of references between entities with row rules. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { callerAs, equals } from './ruled.ts'

export const ANN = callerAs(['clerk'], 'ann')
const BOTH: readonly Json[] = ['boss', 'clerk']
export const OPEN: JsonObject = { find: BOTH, insert: BOTH, update: BOTH, delete: BOTH }
export const OWN: JsonObject = { role: 'clerk', where: equals('owner', '$caller.principal') }
export const HIDDEN: JsonObject = { access: { find: ['boss'] } }
export const OWN_ONLY: JsonObject = { access: { find: ['boss', OWN] } }
export const STRING: JsonObject = { type: 'string' }
