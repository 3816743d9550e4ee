/** The entities that the tests of the page look at. */
import assert from 'node:assert/strict'
import type { TestServer } from '../../support/server.ts'
import { insert } from './visit.ts'

const ACCESS = { find: ['anyone'], insert: ['hr'], update: ['hr'], delete: ['hr'] }

const EMPLOYEE = {
  entityInfo: {
    name: 'employee',
    defaultVersion: '1.0.0',
    history: true,
    enums: [{ name: 'levels', values: ['junior', 'senior', 'lead'] }],
    indexes: [{ name: 'by city', fields: [{ field: 'city' }] }],
    hooks: [
      {
        name: 'moves',
        actions: ['insert', 'update', 'delete'],
        configuration: { watchProjection: [{ field: 'name' }, { field: 'city' }] },
      },
    ],
  },
  schema: {
    name: 'employee',
    version: { value: '1.0.0', changelog: 'first version' },
    status: { value: 'active' },
    access: ACCESS,
    fields: {
      name: { type: 'string', constraints: { required: true, maxLength: 40 } },
      city: { type: 'string' },
      level: { type: 'string', constraints: { enum: 'levels' } },
      salary: { type: 'bigdecimal', access: { find: ['hr'] } },
      born: { type: 'date' },
      active: { type: 'boolean' },
      address: { type: 'object', fields: { street: { type: 'string' }, zip: { type: 'integer' } } },
      skills: { type: 'array', items: { type: 'string' } },
      jobs: {
        type: 'array',
        items: {
          type: 'object',
          fields: { title: { type: 'string', constraints: { required: true } }, years: { type: 'integer' } },
        },
      },
      teamId: { type: 'string' },
      team: {
        type: 'reference',
        entity: 'team',
        query: { field: '_id', op: '=', rfield: '$parent.teamId' },
      },
    },
  },
}

const TEAM = {
  entityInfo: { name: 'team', defaultVersion: '1.0.0' },
  schema: {
    name: 'team',
    version: { value: '1.0.0', changelog: 'first version' },
    status: { value: 'active' },
    access: ACCESS,
    fields: { title: { type: 'string' }, budget: { type: 'bigdecimal', access: { find: ['hr'] } } },
  },
}

const CITIES = ['Bern', 'Basel', 'Zürich', 'Genf', 'Lugano']
const NAMES = ['Ann', 'Bob', 'Cy', 'Dora', 'Emil', 'Fay', 'Gus', 'Hana', 'Ivo', 'Jil', 'Kai', 'Lea']

export async function company(server: TestServer): Promise<void> {
  for (const body of [TEAM, EMPLOYEE]) {
    const { name } = body.entityInfo
    const answer = await server.ask('PUT', `/metadata/${name}/1.0.0`, { body })
    assert.equal(answer.status, 200, answer.text)
  }
  await insert(server, 'team', [
    { _id: 'blue', title: 'Blue team', budget: 120000 },
    { _id: 'red', title: 'Red team', budget: 80000 },
  ])
  const people = NAMES.map((name, i) => ({
    _id: String(i + 1),
    name,
    city: CITIES[i % CITIES.length]!,
    level: ['lead', 'senior', 'junior'][i % 3]!,
    salary: 5000 + i * 100,
    born: `19${70 + i}-02-03T00:00:00Z`,
    active: i % 4 !== 3,
    address: { street: `Gasse ${i}`, zip: 3000 + i },
    skills: ['sql', 'ts', 'go'].slice(0, (i % 3) + 1),
    jobs: [{ title: 'engineer', years: i }],
    teamId: i % 2 === 0 ? 'blue' : 'red',
  }))
  await insert(server, 'employee', people)
}
