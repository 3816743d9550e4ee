/** The examples of the OpenAPI document, sent as they stand: a reader who tries one after the other meets no error. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Json, isObject } from '../../../src/base/json/json.ts'
import { openapiDocument } from '../../../src/http/routes/openapi.ts'
import { ROUTES } from '../../../src/http/routes/routes.ts'
import { type Answer, startTestServer } from '../../support/server.ts'
import { onEveryStore } from '../../support/store-kind.ts'

interface Described {
  readonly operationId: string
  readonly parameters: readonly {
    readonly name?: string
    readonly in?: string
    readonly example?: string | number | boolean
  }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example: Json }>> }
}

type Paths = Readonly<Record<string, Readonly<Record<string, Described>>>>

interface Example {
  readonly method: string
  readonly url: string
  readonly body?: Json
  readonly type?: string
}

/** In an order in which each finds what it needs; a delete makes room for the next document with the same identity. */
const STEPS = `
  createMetadata createAllMetadata updateEntityInfo createSchema
  entityNames entityNamesByStatus roles entityRoles versionRoles
  dependencies entityDependencies versionDependencies explainAccess
  entityAccess versionAccess entityLint entityVersions entityHistory
  defaultMetadata metadata
  importDefault deleteAll import deleteAll insertAliasDefault delete insertAlias
  deleteDefault insertDefault delete insert saveDefault save
  findDefault find simpleFindDefault simpleFind aggregateDefault aggregate
  explainDefault explain simpleExplainDefault simpleExplain updateDefault update
  generateDefault generate bulk searches
  lock acquireLock pingLock countLock releaseLock
  listDocuments delete createDocument delete replaceDocument getDocument
  patchDocument deleteDocument
  setStatus clearDefault setDefault
  events createSink sinks sink replaceSink deadLetters redriveDeadLetters removeSink
  issueTicket links health dataHealth metadataHealth ready version metrics
  slowRequests openapi docs ui uiSettings guide guidePage guideSectionPage
`
  .trim()
  .split(/\s+/)

/** What an example cannot succeed without. */
const NOT_SENT: Readonly<Record<string, string>> = {
  historyDefault: 'an entity that keeps its history',
  history: 'an entity that keeps its history',
  simpleSearchDefault: 'a saved search',
  simpleSearch: 'a saved search',
  searchDefault: 'a saved search',
  search: 'a saved search',
  metadataDiff: 'a second version',
  removeEntity: 'versions that are all disabled',
  eventStream: 'a reader who ends it',
  deadLetter: 'an event that a sink did not accept',
  redriveDeadLetter: 'an event that a sink did not accept',
  discardDeadLetter: 'an event that a sink did not accept',
  backup: 'a directory for backups',
  uiAsset: 'the name of a file, which contains a hash',
}

const EXAMPLES = examples()

test('openapi: the example of every operation is sent, or is known to need more', () => {
  const known = new Set([...STEPS.filter((id) => id !== 'deleteAll'), ...Object.keys(NOT_SENT)])
  assert.deepEqual([...known].sort(), [...EXAMPLES.keys()].sort())
})

test('openapi: no example of a body repeats the entity and version of the path', () => {
  const repeating = EXAMPLES.entries().filter(
    ([, { url, body }]) =>
      url.startsWith('/data/') && (hasMember(body, 'objectType') || hasMember(body, 'version')),
  )
  assert.deepEqual([...repeating], [])
})

onEveryStore(() => {
  test('openapi: the examples succeed, one after the other', async () => {
    await using server = await startTestServer()
    // the examples of events are about it
    await server.define('sandwich', { toppings: { type: 'array', items: { type: 'string' } } })
    const failures: string[] = []
    for (const id of STEPS) {
      const { method, url, body, type } = id === 'deleteAll' ? DELETE_ALL : EXAMPLES.get(id)!
      const headers = type === undefined ? {} : { 'Content-Type': type }
      const ask = { ...(body !== undefined && { body }), headers, roles: ['editor', 'admin'] }
      const answer = await server.ask(method, url, ask)
      if (hasFailed(answer)) failures.push(`${id}: ${answer.status} ${answer.text.slice(0, 400)}`)
    }
    assert.deepEqual(failures, [])
  })
})

function hasMember(body: Json | undefined, name: string): boolean {
  return isObject(body) && Object.hasOwn(body, name)
}

/** No example: the import stores more than the example of a delete removes. */
const DELETE_ALL: Example = {
  method: 'POST',
  url: '/data/delete/country',
  body: { query: { $and: [] } },
  type: 'application/json',
}

/** A response of several parts has a status of its own, which may say that a part failed. */
function hasFailed({ status, text }: Answer): boolean {
  return status >= 400 || /"status":"(?:ERROR|PARTIAL)"/.test(text)
}

function examples(): ReadonlyMap<string, Example> {
  const paths = openapiDocument(ROUTES)['paths'] as unknown as Paths
  const all = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, described]): [string, Example] => {
      const { operationId } = described
      return [
        operationId,
        { method: method.toUpperCase(), url: urlOf(path, described), ...bodyOf(described) },
      ]
    }),
  )
  return new Map(all)
}

/** With all parameters that have an example, as tools fill them in. */
function urlOf(path: string, { parameters }: Described): string {
  const given = parameters.filter(({ example }) => example !== undefined)
  const valueOf = (name: string): string => String(given.find((each) => each.name === name)?.example)
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(valueOf(name)))
  const query = given
    .filter((each) => each.in === 'query')
    .map(({ name = '' }): [string, string] => [name, valueOf(name)])
  return query.length === 0 ? filled : `${filled}?${new URLSearchParams(query).toString()}`
}

function bodyOf({ requestBody }: Described): Pick<Example, 'body' | 'type'> {
  const [first] = Object.entries(requestBody?.content ?? {})
  return first === undefined ? {} : { type: first[0], body: first[1].example }
}
