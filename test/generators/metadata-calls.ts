/** Calls of every operation on metadata. */
import { type Schemas, client, expect, path, succeeds } from './client.ts'

const metadata: Schemas['Metadata'] = {
  entityInfo: {
    name: 'book',
    defaultVersion: '1.0.0',
    history: true,
    indexes: [
      { name: 'title', fields: [{ field: 'title', dir: '$asc' }] },
      { name: 'words', kind: 'text', language: 'english', fields: [{ field: 'title', weight: 3 }] },
    ],
    hooks: [{ name: 'all', actions: ['insert', 'update', 'delete'] }],
  },
  schema: {
    name: 'book',
    version: { value: '1.0.0', changelog: 'first' },
    status: { value: 'active' },
    access: {
      find: ['anyone'],
      insert: ['anyone'],
      update: ['anyone'],
      delete: ['admin', { role: 'editor', where: { field: 'price', op: '<', rvalue: 100 } }],
    },
    fields: {
      _id: { type: 'uid', constraints: { identity: true }, valueGenerator: { type: 'UUID' } },
      title: { type: 'string', constraints: { minLength: 1 } },
      price: { type: 'bigdecimal' },
      published: { type: 'date' },
      chapters: { type: 'array', items: { type: 'object', fields: { pages: { type: 'integer' } } } },
    },
  },
}

export async function changeMetadata(): Promise<void> {
  const dry = await succeeds(
    client.PUT('/metadata/{entity}/{version}', {
      params: { path, query: { dryRun: true, strict: true } },
      body: metadata,
    }),
  )
  expect(dry.dryRun?.entities[0]?.indexes.build.length === 2, 'a dry run names the indexes to build')
  const created = await succeeds(
    client.PUT('/metadata/{entity}/{version}', {
      params: { path, header: { 'Idempotency-Key': 'book' } },
      body: metadata,
    }),
  )
  expect(created.schema.version.value === '1.0.0', 'the answer is the metadata')
  const list = [{ ...metadata, ...named('shelf') }]
  const rehearsed = await succeeds(
    client.PUT('/metadata', { params: { query: { dryRun: true } }, body: list }),
  )
  expect('dryRun' in rehearsed && rehearsed.dryRun.changes, 'a dry run of a list has a report')
  await succeeds(client.PUT('/metadata', { body: list }))
  const { entityInfo } = await succeeds(
    client.PUT('/metadata/{entity}', { params: { path }, body: metadata.entityInfo }),
  )
  expect(entityInfo.history === true, 'entity info is answered')
  await succeeds(
    client.PUT('/metadata/{entity}/schema={version}', {
      params: { path: { entity: 'book', version: '1.1.0' } },
      body: { ...metadata.schema, version: { value: '1.1.0', changelog: 'second' } },
    }),
  )
  await succeeds(
    client.PUT('/metadata/{entity}/{version}/{status}', {
      params: {
        path: { entity: 'book', version: '1.1.0', status: 'deprecated' },
        query: { comment: 'too new' },
      },
    }),
  )
  await succeeds(client.DELETE('/metadata/{entity}/default', { params: { path } }))
  await succeeds(client.POST('/metadata/{entity}/{version}/default', { params: { path } }))
}

export async function readMetadata(): Promise<void> {
  const params = { path }
  const { entities } = await succeeds(client.GET('/metadata'))
  expect(entities.includes('book'), 'the entity is listed')
  await succeeds(
    client.GET('/metadata/s={statuses}', { params: { path: { statuses: 'active,deprecated' } } }),
  )
  await succeeds(client.GET('/metadata/{entity}', { params }))
  await succeeds(client.GET('/metadata/{entity}/default', { params }))
  const { schema } = await succeeds(client.GET('/metadata/{entity}/{version}', { params }))
  expect(schema.fields['title']?.type === 'string', 'fields have types')
  await succeeds(client.GET('/metadata/{entity}/history', { params }))
  const versions = { entity: 'book', version: '1.0.0', version2: '1.1.0' }
  await succeeds(client.GET('/metadata/{entity}/{version}/diff/{version2}', { params: { path: versions } }))
  const { findings } = await succeeds(client.GET('/metadata/{entity}/lint', { params }))
  expect(
    findings.every(({ severity }) => severity === 'hint' || severity === 'warning'),
    'findings have severities',
  )
  await succeeds(client.GET('/metadata/roles'))
  await succeeds(client.GET('/metadata/{entity}/roles', { params }))
  await succeeds(client.GET('/metadata/{entity}/{version}/roles', { params }))
  await succeeds(client.GET('/metadata/dependencies'))
  await succeeds(client.GET('/metadata/{entity}/dependencies', { params }))
  await succeeds(client.GET('/metadata/{entity}/{version}/dependencies', { params }))
  const { access } = await succeeds(client.GET('/metadata/{entity}/access', { params }))
  expect(access.delete['editor'] === 'where', 'a row rule is where')
  await succeeds(client.GET('/metadata/{entity}/{version}/access', { params }))
  const { decision } = await succeeds(
    client.POST('/metadata/access/explain', { body: { roles: ['admin'], entity: 'book', op: 'find' } }),
  )
  expect(decision === 'allow', 'anyone finds books')
}

export async function removeMetadata(): Promise<void> {
  const shelf = { entity: 'shelf', version: '1.0.0' }
  await succeeds(client.DELETE('/metadata/{entity}/default', { params: { path: shelf } }))
  await succeeds(
    client.PUT('/metadata/{entity}/{version}/{status}', {
      params: { path: { ...shelf, status: 'disabled' } },
    }),
  )
  await succeeds(
    client.DELETE('/metadata/{entity}', { params: { path: shelf, query: { documents: 'delete' } } }),
  )
}

function named(name: string): Schemas['Metadata'] {
  return {
    entityInfo: { name, defaultVersion: '1.0.0' },
    schema: { ...metadata.schema, name },
  }
}
