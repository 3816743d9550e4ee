/** A small entity to begin with. */
import type { JsonObject } from '../../client/json.ts'

export const TEMPLATE: JsonObject = {
  entityInfo: { name: 'country', defaultVersion: '1.0.0', history: false, indexes: [], enums: [] },
  schema: {
    name: 'country',
    version: { value: '1.0.0', changelog: 'first version' },
    status: { value: 'active' },
    access: { find: ['anyone'], insert: ['anyone'], update: ['anyone'], delete: ['anyone'] },
    fields: {
      iso2Code: { type: 'string', constraints: { identity: true, maxLength: 2 } },
      name: { type: 'string', constraints: { required: true } },
      population: { type: 'integer' },
    },
  },
}
