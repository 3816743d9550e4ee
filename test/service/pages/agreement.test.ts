/** Pages by cursor hold exactly the documents of the find without pages, in its order. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { printResponse } from '../../../src/service/response.ts'
import type { Service } from '../../../src/service/service.ts'
import { makeDocuments, makeIndexes, makeSchema } from '../../property/agreement/make-documents.ts'
import { makeReferenceRequest } from '../../property/agreement/make-reference-requests.ts'
import { makeRequest } from '../../property/agreement/make-requests.ts'
import { printFields, withPredefined } from '../../property/agreement/model.ts'
import { fanOutOf } from '../../property/agreement/reference-join.ts'
import { openArena } from '../../property/agreement/references-arena.ts'
import { sample, sampleEvenly } from '../../support/chance.ts'
import { PLACINGS, openReferencesService } from '../../support/references-service.ts'
import { SEED } from '../../support/seed.ts'
import { ADMIN, openTestService } from '../../support/service.ts'
import { onEveryStore, storeKind } from '../../support/store-kind.ts'
import { walk } from './walk.ts'

onEveryStore(() => {
  test(`pages: together they are the find without pages (SMALT_SEED=${SEED})`, async () => {
    await using tester = await openTestService()
    let pages = 0
    for (let round = 0; round < 4; round++) {
      const seed = SEED + round * 1_000
      const [entity, declared] = [`e${round}`, sample(seed, makeSchema)]
      const indexes = sample(seed, (chance) => makeIndexes(chance, declared)).map(({ printed }) => printed)
      const info = { indexes: indexes.map((index) => ({ ...index, unique: false })) }
      await tester.define(entity, printFields(declared), round === 0 ? {} : { info })
      await tester.store(
        entity,
        sample(seed, (chance) => makeDocuments(chance, declared, 24)),
      )
      const root = withPredefined(declared)
      for (let i = 0; i < 40; i++) {
        const body = sample(seed + i + 1, (chance) => makeRequest(chance, root))
        pages += await compare(tester.service, { entity, body }, seed + i)
      }
    }
    assert.ok(pages > 100, `only ${pages} pages had a next one`)
  })

  for (const placing of PLACINGS) {
    if (placing.first !== storeKind()) continue
    test(`pages: the same across references, on ${placing.name} (SMALT_SEED=${SEED})`, async () => {
      await using tester = await openReferencesService(placing)
      let pages = 0
      const { holdings } = await openArena(SEED, [tester])
      const subject = { entities: holdings.entities, fanOut: fanOutOf(holdings) }
      for (let i = 0; i < 40; i++) {
        const request = sampleEvenly(SEED + i + 1, (chance) => makeReferenceRequest(chance, subject))
        pages += await compare(tester.service, request, SEED + i)
      }
      assert.ok(pages > 5, `only ${pages} pages had a next one`)
    })
  }
})

interface Request {
  readonly entity: string
  readonly body: JsonObject
}

/** The number of pages that had a next one. */
async function compare(service: Service, { entity, body }: Request, seed: number): Promise<number> {
  const { range: _, from: _from, to: _to, maxResults: _maxResults, ...find } = body
  const whole = await service.data.find(ADMIN, { entity }, find)
  if (whole.status !== 'COMPLETE') return 0
  const { processed = [] } = whole
  const size = 1 + (seed % 5)
  const walked = await walk({ service, entity, body: find, size })
  const about = `SMALT_SEED of the case: ${seed}; ${JSON.stringify({ entity, size, find })}`
  assert.deepEqual(walked, processed, about)
  const counted = await service.data.find(ADMIN, { entity }, { ...find, page: { size, count: true } })
  assert.equal(counted.matchCount, whole.matchCount, `${about} ${printResponse(counted)}`)
  return Math.floor(Math.max(0, processed.length - 1) / size)
}
