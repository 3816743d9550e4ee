/** The entity for saved searches: created once, and after that an entity like any other. */
import type { JsonObject } from '../../base/json/json.ts'
import type { Registry } from '../../metadata/registry.ts'

export const SAVED_SEARCH = 'savedSearch'

/** Created at the first start only: an entity that was changed or removed since then is left alone. */
export async function ensureSavedSearch(
  registry: Pick<Registry, 'historyOf' | 'create'>,
  backend: string,
): Promise<void> {
  const history = await registry.historyOf(SAVED_SEARCH)
  if (history.length > 0) return
  await registry.create('smalt', { entity: SAVED_SEARCH, version: VERSION }, metadataOn(backend))
}

const VERSION = '1.0.0'

function metadataOn(backend: string): JsonObject {
  return {
    entityInfo: {
      name: SAVED_SEARCH,
      defaultVersion: VERSION,
      datastore: { backend },
      // Not unique: one name may have several searches for different versions, where each version belongs to
      // only one of them. That is a constraint over array elements, which no index can enforce.
      indexes: [{ name: 'nameAndEntity', unique: false, fields: [{ field: 'name' }, { field: 'entity' }] }],
    },
    schema: {
      name: SAVED_SEARCH,
      version: { value: VERSION, changelog: 'Made by Smalt' },
      status: { value: 'active' },
      access: { find: ['anyone'], insert: ['admin'], update: ['admin'], delete: ['admin'] },
      fields: FIELDS,
    },
  }
}

const FIELDS: JsonObject = {
  _id: { type: 'string', constraints: { identity: true } },
  objectType: { type: 'string' },
  name: { type: 'string', description: 'What it is run by.', constraints: { required: true, minLength: 1 } },
  entity: { type: 'string', description: 'What it searches.', constraints: { required: true, minLength: 1 } },
  versions: {
    type: 'array',
    description: 'Versions, or their beginnings such as 1 or 1.0; null or none at all means every version.',
    items: { type: 'string' },
  },
  parameters: {
    type: 'array',
    description: 'What a caller may supply for placeholders.',
    items: {
      type: 'object',
      fields: {
        name: { type: 'string', constraints: { required: true, minLength: 1 } },
        type: { type: 'string', description: 'A type of values; string when absent.' },
        optional: { type: 'boolean', description: 'Whether the default value serves when none is supplied.' },
        defaultValue: { type: 'any' },
      },
    },
  },
  query: { type: 'any', description: 'JSON, or its text.', constraints: { required: true } },
  projection: { type: 'any', description: 'JSON, or its text; absent means everything.' },
  sort: { type: 'any', description: 'JSON, or its text.' },
  range: {
    type: 'array',
    description: 'First and last document to return, zero-based.',
    items: { type: 'integer' },
    constraints: { maxItems: 2 },
  },
}
