/**
 * Evaluator and stores compute the same groups for random aggregates, digit for digit, also where the versions of an entity
 * give a path different types of numbers, and where paths lead through references.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Json, type JsonObject, isArray, member } from '../../../src/base/json/json.ts'
import { ServiceError } from '../../../src/base/errors.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import { compileSchema, pathsStored } from '../../../src/metadata/compile.ts'
import { parseEntityInfo } from '../../../src/metadata/documents/entity-info.ts'
import { parseSchemaDocument } from '../../../src/metadata/documents/schema-document.ts'
import { formsOf } from '../../../src/metadata/stored-forms.ts'
import type { Schema } from '../../../src/schema/schema.ts'
import { type Aggregated, aggregateInMemory } from '../../support/aggregate-evaluator.ts'
import { sampleEvenly } from '../../support/chance.ts'
import { compiledSchema } from '../../support/schema.ts'
import { SEED } from '../../support/seed.ts'
import { ADMIN, EVERYTHING, documentsOf, metadataDocument, openTestService } from '../../support/service.ts'
import { onEveryStore, storeKind } from '../../support/store-kind.ts'
import { JOINED, VERSIONS, makeAggregated, makeJoined } from './make-aggregated.ts'
import { makeAggregate } from './make-aggregates.ts'

const ROUNDS = 4
const DOCUMENTS = 25
/** In each round: 10,000 on each store. */
const REQUESTS = 2_500
const AT_ONCE = 250

onEveryStore((kind) => {
  test('aggregate: evaluator and store agree on random requests', async () => {
    let answered = 0
    for (let round = 0; round < ROUNDS; round++) {
      answered += await agree(SEED + round + (kind === 'sqlite' ? 0 : 500_000))
    }
    console.log(
      `aggregates on ${kind}: ${ROUNDS} rounds of ${REQUESTS}, ${answered} with groups, seeds from ${SEED}`,
    )
    assert.ok(answered * 2 > ROUNDS * REQUESTS, `only ${answered} have groups, so that they can differ`)
  })
})

/** Returns how many of the requests have groups. */
async function agree(seed: number): Promise<number> {
  await using tester = await openTestService()
  const { service } = tester
  const indexes = [
    { name: 'one', fields: [{ field: 'i', dir: '$asc' }] },
    { name: 'two', fields: [{ field: 'bd', dir: '$asc' }] },
  ]
  const metadata = VERSIONS.map((fields, i) => {
    const version = { value: `${i + 1}.0.0`, changelog: 'made' }
    return metadataDocument('t', fields, {
      info: { ...(seed % 2 === 0 && { indexes }) },
      schema: { version },
    })
  })
  const joinedMetadata = metadataDocument('r', JOINED)
  await service.metadata.create(ADMIN, { entity: 'r', version: '1.0.0' }, joinedMetadata)
  for (const [i, document] of metadata.entries()) {
    await service.metadata.create(ADMIN, { entity: 't', version: `${i + 1}.0.0` }, document)
  }
  const drawn = sampleEvenly(seed, (chance) => ({
    documents: Array.from({ length: DOCUMENTS }, () => {
      const version = chance.int(2)
      return { version, document: makeAggregated(chance, version) }
    }),
    requests: Array.from({ length: REQUESTS }, () => {
      const version = chance.int(2)
      return { version, request: makeAggregate(chance, version) }
    }),
    joined: makeJoined(chance),
  }))
  const inserted = await service.data.insert(ADMIN, { entity: 'r' }, { data: drawn.joined })
  assert.equal(inserted.status, 'COMPLETE', JSON.stringify(inserted))
  for (const version of [0, 1]) {
    const data = drawn.documents.flatMap((each) => (each.version === version ? [each.document] : []))
    const response = await service.data.insert(
      ADMIN,
      { entity: 't', version: `${version + 1}.0.0` },
      { data },
    )
    assert.equal(response.status, 'COMPLETE', JSON.stringify(response))
  }
  // Both versions together show every member as it is stored.
  const stored = documentsOf(
    await service.data.find(ADMIN, { entity: 't', version: '1.0.0' }, { projection: EVERYTHING }),
  )
  const found = await service.data.find(ADMIN, { entity: 'r' }, { projection: EVERYTHING })
  const joined = { schema: compiledSchema('r', JOINED), documents: documentsOf(found) }
  const schemas = metadata.map(askedSchema)
  const about = `on ${storeKind()}\n${JSON.stringify({ stored, joined: joined.documents })}`
  let answered = 0
  for (let start = 0; start < REQUESTS; start += AT_ONCE) {
    const requests = drawn.requests.slice(start, start + AT_ONCE)
    for (const [i, { version, request, found }] of (await asked(service, requests)).entries()) {
      const wanted = expected(() => aggregateInMemory(schemas[version]!, request, stored, joined))
      const place = `seed ${seed}, request ${start + i} of version ${version + 1}: ${JSON.stringify(request)}`
      assert.deepEqual(found, wanted, `${place} ${about}`)
      if (hasGroups(found)) answered++
    }
  }
  return answered
}

function hasGroups(outcome: Json): boolean {
  const processed = member(outcome, 'processed')
  return isArray(processed) && processed.length > 0
}

/** The schema as the service has it: it knows which types other versions stored. */
function askedSchema(document: JsonObject): Schema {
  const { entityInfo, schema } = document as { entityInfo: Json; schema: Json }
  const configured = { backends: [storeKind()], datasources: ['default'], backendOf: storeKind }
  const stored = VERSIONS.flatMap((fields) => {
    const { root } = compiledSchema('t', fields)
    return [...pathsStored(root.fields), ...formsOf(root.fields)]
  })
  return compileSchema(parseEntityInfo(entityInfo, '', configured), parseSchemaDocument(schema, ''), stored)
}

type Service = Awaited<ReturnType<typeof openTestService>>['service']

interface Asked {
  readonly version: number
  readonly request: JsonObject
}

async function asked(service: Service, requests: readonly Asked[]) {
  const entries = requests.map(({ version, request }, seq) => ({
    seq,
    op: 'aggregate',
    request: { entity: 't', entityVersion: `${version + 1}.0.0`, ...request },
  }))
  const text = await service.data.bulk(ADMIN, { requests: entries })
  const { responses } = parseTrusted(text) as unknown as { responses: readonly { response: JsonObject }[] }
  return responses.map(({ response }, i) => ({ ...requests[i]!, found: outcomeOf(response) }))
}

function outcomeOf({ processed, matchCount, errors }: JsonObject): Json {
  if (errors) return (errors as readonly JsonObject[]).map(({ errorCode }) => errorCode!)
  return {
    processed: (processed as readonly Json[]).map((each) => JSON.stringify(each)),
    matchCount: matchCount!,
  }
}

function expected(aggregate: () => Aggregated): Json {
  try {
    return aggregate() as unknown as Json
  } catch (error) {
    if (error instanceof ServiceError) return [error.code]
    throw error
  }
}
