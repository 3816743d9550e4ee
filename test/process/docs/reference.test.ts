/**
 * Every example of the reference is run by the whole service on SQLite. A block `json entity` defines the entity of the
 * blocks after it, `json documents` what is stored; the other tags are the kinds of example below. A block `filter` is the
 * text of the query in the block after it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '../../../src/access/caller.ts'
import { type Json, type JsonObject, isArray, isObject, sameJson } from '../../../src/base/json/json.ts'
import { filterToQuery } from '../../../src/lang/text/spellings.ts'
import { type DataResponse, printResponse } from '../../../src/service/response.ts'
import {
  ANYONE,
  EVERYTHING,
  type TestService,
  callerWith,
  documentsOf,
  jsonObject,
  json,
  metadataDocument,
  openTestService,
} from '../../support/service.ts'
import { type Block, blocksOf, isAsShown } from './page.ts'

const PAGES = [
  'docs/reference/query.md',
  'docs/reference/filters.md',
  'docs/reference/text-search.md',
  'docs/reference/projection.md',
  'docs/reference/sort.md',
  'docs/reference/aggregate.md',
  'docs/reference/update.md',
  'docs/reference/types.md',
  'docs/explanation/access.md',
]

for (const page of PAGES) {
  test(`${page}: every example does what it says`, async (t) => {
    await using tester = await openTestService({ now: () => new Date('2024-01-02T03:04:05.678Z') })
    const stage: Stage = { tester, entity: '', documents: [] }
    for (const block of blocksOf(page)) {
      const [language, kind] = block.tag.split(' ')
      if (language === 'filter') stage.filter = block.text
      if (language !== 'json' || kind === undefined) continue
      if (kind === 'entity') await define(stage, block)
      else if (kind === 'documents') stage.documents = json(block.text) as readonly JsonObject[]
      else await t.test(`${kind}, line ${block.line}`, () => EXAMPLES[kind]!(stage, jsonObject(block.text)))
    }
  })
}

interface Stage {
  readonly tester: TestService
  entity: string
  documents: readonly JsonObject[]
  /** Of the block before, where that is a filter. */
  filter?: string | undefined
}

/** `{name, fields, access?, enums?, indexes?}`: in open hands unless it says otherwise. */
async function define(stage: Stage, block: Block): Promise<void> {
  const { name, fields, access, enums = [], indexes = [] } = jsonObject(block.text)
  stage.entity = name as string
  stage.documents = []
  const more = { info: { enums, indexes }, schema: { access: access ?? ANYONE } }
  const body = metadataDocument(stage.entity, fields!, more)
  await stage.tester.service.metadata.create(callerWith(), { entity: stage.entity, version: '1.0.0' }, body)
}

type Example = (stage: Stage, example: JsonObject) => Promise<void>

const EXAMPLES: Readonly<Record<string, Example>> = {
  async query(stage, { query, matches, ...rest }) {
    const response = await found(stage, { query: query!, projection: { field: '_id' } }, rest)
    if (response) assert.deepEqual(idsOf(response).sort(), [...(matches as readonly string[])].sort())
    const { filter } = stage
    if (filter === undefined) return
    stage.filter = undefined
    assert.ok(sameJson(filterToQuery(filter), query), JSON.stringify(filterToQuery(filter)))
    const asText = await found(stage, { filter, projection: { field: '_id' } }, rest)
    assert.deepEqual(asText?.processed, response?.processed)
  },

  async refused(stage, { error, msg }) {
    const { filter = '' } = stage
    stage.filter = undefined
    const response = await stage.tester.find(stage.entity, { filter, projection: EVERYTHING })
    assert.deepEqual(
      response.errors?.map((each) => [each.errorCode, each.msg]),
      [[error, msg]],
    )
  },

  async sort(stage, { sort, order, ...rest }) {
    const { range = null, page = null, query = null, ...others } = rest
    const body = { ...(query !== null && { query }), sort: sort!, range, page, projection: { field: '_id' } }
    const response = await found(stage, body, others)
    if (response) assert.deepEqual(idsOf(response), order)
  },

  async aggregate(stage, { request, result, matchCount, ...rest }) {
    await fill(stage, stage.documents)
    const { tester, entity } = stage
    const response = await tester.service.data.aggregate(callerOf(rest), { entity }, request)
    if (isRefused(response, rest)) return
    assert.equal(JSON.stringify(documentsOf(response)), JSON.stringify(result))
    assert.equal(response.matchCount, matchCount ?? (result as readonly Json[]).length)
  },

  async projection(stage, { document, projection, result, ...rest }) {
    const response = await found(
      { ...stage, documents: given(stage, document) },
      { projection: projection! },
      rest,
    )
    if (response) shows(result!, documentsOf(response)[0], response)
  },

  async update(stage, { document, update, result, ...rest }) {
    const { tester, entity } = stage
    await fill(stage, given(stage, document))
    const body = { query: ALL, update: update!, projection: EVERYTHING }
    const response = await tester.service.data.update(callerOf(rest), { entity }, body)
    if (!isRefused(response, rest)) shows(result!, plain(documentsOf(response)[0]!, result!), response)
    if (Object.hasOwn(rest, 'modified')) assert.equal(response.modifiedCount, rest.modified)
  },

  async insert(stage, { document, stored, ...rest }) {
    const { tester, entity } = stage
    await fill(stage, stage.documents)
    const body = { data: document!, projection: EVERYTHING }
    const response = await tester.service.data.insert(callerOf(rest), { entity }, body)
    if (!isRefused(response, rest)) shows(stored!, plain(documentsOf(response)[0]!, stored!), response)
  },
}

const ALL: JsonObject = { $and: [] }

/** The answer to a find on the documents of the stage; undefined when it was refused, as the example says. */
async function found(stage: Stage, body: JsonObject, rest: JsonObject): Promise<DataResponse | undefined> {
  await fill(stage, stage.documents)
  const response = await stage.tester.find(stage.entity, body, callerOf(rest))
  return isRefused(response, rest) ? undefined : response
}

async function fill({ tester, entity }: Stage, documents: readonly JsonObject[]): Promise<void> {
  const keeper = callerWith('keeper')
  await tester.service.data.delete(keeper, { entity }, { query: ALL })
  const response = await tester.service.data.insert(keeper, { entity }, { data: documents })
  assert.equal(response.status, 'COMPLETE', printResponse(response))
}

/** The document of an example: one of the stage, by its `_id`, or one of its own. */
function given({ documents }: Stage, document: Json | undefined): readonly JsonObject[] {
  if (isObject(document)) return [document]
  const known = documents.find(({ _id }) => _id === document)
  assert.ok(known, `no document ${JSON.stringify(document)}`)
  return [known]
}

function callerOf({ roles, principal = '', claims = {} }: JsonObject): Caller {
  const caller = callerWith(...((roles as readonly string[] | undefined) ?? []))
  return { ...caller, principal: principal as string, claims: claims as JsonObject }
}

/** `error` is the code that ends the request, `errors` the codes of what is wrong with the document. */
function isRefused(response: DataResponse, { error, errors }: JsonObject): boolean {
  const documentErrors = (response.dataErrors ?? []).flatMap((each) => each.errors)
  assert.deepEqual(
    [
      response.errors?.map(({ errorCode }) => errorCode),
      documentErrors.map(({ errorCode }) => errorCode).sort(),
    ],
    [error === undefined ? undefined : [error], isArray(errors) ? [...(errors as string[])].sort() : []],
    printResponse(response),
  )
  return error !== undefined || errors !== undefined
}

function shows(shown: Json, value: JsonObject | undefined, response: DataResponse): void {
  assert.ok(isAsShown(shown, value), `shown ${JSON.stringify(shown)}, answered ${printResponse(response)}`)
}

/** What the service adds is left aside where an example does not show it: `_id`, `objectType` and the sizes of arrays. */
function plain(value: JsonObject, shown: Json): JsonObject {
  return plainly(value, shown) as JsonObject
}

function plainly(value: Json, shown: Json | undefined): Json {
  if (isArray(value)) return value.map((each, i) => plainly(each, isArray(shown) ? shown[i] : undefined))
  if (!isObject(value)) return value
  const isShown = (name: string): boolean => isObject(shown) && Object.hasOwn(shown, name)
  const kept = Object.keys(value).filter((name) => isShown(name) || !/^_id$|^objectType$|#$/.test(name))
  return Object.fromEntries(
    kept.map((name) => [name, plainly(value[name]!, isObject(shown) ? shown[name] : undefined)]),
  )
}

function idsOf(response: DataResponse): string[] {
  return documentsOf(response).map(({ _id }) => _id as string)
}
