/** The corpus of metadata documents in the spellings of Lightblue: accepted, and accepted again as they are read. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Json, type JsonObject, member } from '../../../src/base/json/json.ts'
import { ADMIN, EVERYTHING, type TestService, openTestService } from '../../support/service.ts'
import { shareService } from '../../support/shared-service.ts'
import { onEveryStore } from '../../support/store-kind.ts'
import { CORPUS } from './lightblue-corpus.ts'

function targetOf(document: JsonObject) {
  const schema = member(document, 'schema')
  return {
    entity: member(schema, 'name') as string,
    version: member(member(schema, 'version'), 'value') as string,
  }
}

const codesIn = (answer: Json): readonly string[] =>
  ((member(answer, 'warnings') ?? []) as unknown as { code: string }[])
    .map(({ code }) => code)
    .filter((code) => code !== 'anyone-writes')

async function changesOf({ service }: TestService, document: JsonObject): Promise<number> {
  return ((await service.metadata.history(ADMIN, targetOf(document).entity)) as Json[]).length
}

/** Each rule has entities of its own, so all of them are created in the same few services. */
const [openAlone, openAsList, openMoved] = [shareService(), shareService(), shareService()]

test('corpus: no two rules name the same entity', () => {
  const entities = CORPUS.flatMap(({ documents }) => [
    ...new Set(documents.map((each) => targetOf(each).entity)),
  ])
  assert.deepEqual(entities.toSorted(), [...new Set(entities)].sort())
})

onEveryStore(() => {
  for (const { rule, documents, warnings, data = [] } of CORPUS) {
    test(`corpus: ${rule}: accepted with warnings, and accepted again as it is read`, async () => {
      await using on = await openAlone()
      const { metadata } = on.service
      const codes = new Set<string>()
      for (const document of documents) {
        const target = targetOf(document)
        const answer = await metadata.create(ADMIN, target, document)
        for (const code of codesIn(answer)) codes.add(code)
        const read = metadata.get(ADMIN, target.entity, target.version) as JsonObject
        const changes = await changesOf(on, document)
        for (const again of [read, answer, document]) await metadata.create(ADMIN, target, again)
        assert.equal(await changesOf(on, document), changes, 'nothing changed')
        assert.deepEqual(metadata.get(ADMIN, target.entity, target.version), read)
        assert.ok(!codesIn(await metadata.create(ADMIN, target, read)).includes('lightblue-spelling'))
      }
      assert.deepEqual([...codes].sort(), [...warnings].sort())
      await metadata.createAll(ADMIN, documents)
      const [first] = documents
      const { entity } = targetOf(first!)
      const inserted = await on.insert(entity, { data, projection: EVERYTHING })
      assert.equal(inserted.status, 'COMPLETE', JSON.stringify(inserted))
      assert.equal((await on.find(entity, { projection: EVERYTHING })).matchCount, data.length)
    })

    test(`corpus: ${rule}: accepted as a list, read back and moved to another service unchanged`, async () => {
      await using on = await openAsList()
      await using other = await openMoved()
      const answer = await on.service.metadata.createAll(ADMIN, documents)
      await other.service.metadata.createAll(ADMIN, answer)
      for (const document of documents) {
        const { entity, version } = targetOf(document)
        const read = on.service.metadata.get(ADMIN, entity, version)
        assert.deepEqual(other.service.metadata.get(ADMIN, entity, version), read)
      }
    })
  }

  test('corpus: audit hooks create audit events, inert hooks none', async () => {
    await using on = await openTestService()
    const everything = CORPUS.find(({ rule }) => rule === 'everything in one')!
    await on.service.metadata.createAll(ADMIN, everything.documents)
    await on.store('user-account', everything.data as Json)
    const { events } = await on.service.events.read(ADMIN, new URLSearchParams('entity=user-account&wait=30'))
    const parsed = events.map((each) => (typeof each === 'string' ? JSON.parse(each) : each) as JsonObject)
    assert.deepEqual(parsed.map(({ hook }) => hook).sort(), ['auditHook', 'notificationHook'])
    const audit = parsed.find(({ hook }) => hook === 'auditHook')
    assert.ok(JSON.stringify(audit).includes('"changes":[{"path":'), JSON.stringify(audit))
  })

  test('corpus: an index is built when a version defines its field', async () => {
    await using on = await openTestService()
    const { documents } = CORPUS.find(({ rule }) => rule === 'an index on a field that no version has')!
    const { entityInfo, schema } = documents[0] as { entityInfo: JsonObject; schema: JsonObject }
    const indexes = [{ name: 'x', unique: true, fields: [{ field: 'later' }] }]
    await on.service.metadata.createAll(ADMIN, [{ entityInfo: { ...entityInfo, indexes }, schema }])
    const next = {
      ...schema,
      version: { value: '2.0.0', changelog: 'later' },
      fields: { ...(schema['fields'] as JsonObject), later: { type: 'string' } },
    }
    const target = { entity: 'waiting', version: '2.0.0' }
    const answer = await on.service.metadata.createSchema(ADMIN, target, next)
    assert.ok(!codesIn(answer).includes('index-without-field'))
    const data = [{ later: 'x' }, { later: 'x' }, { later: 'y' }]
    const inserted = await on.service.data.insert(ADMIN, target, { data })
    assert.deepEqual([inserted.status, inserted.modifiedCount], ['PARTIAL', 2])
  })
})
