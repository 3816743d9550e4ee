/** What a store sends to a cluster has none of the shapes that Citus answers wrongly or refuses. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { runRound } from '../property/agreement/round.ts'
import { runUpdateRound } from '../property/agreement/update-round.ts'
import { exercise } from '../store/postgres-exercise.ts'
import { recordStatements } from '../store/record-statements.ts'
import { CLUSTER_RULES, type Finding, bareOf, findingsIn } from '../store/sql-shapes.ts'
import { citusUrl } from '../support/citus.ts'
import { SEED } from '../support/seed.ts'
import { chooseStore } from '../support/store-kind.ts'

chooseStore('postgres')
const recorded = recordStatements()
let findings: readonly Finding[] = []

before(async () => {
  assert.ok(citusUrl(), 'SMALT_TEST_CITUS must be the URL of the coordinator of a Citus cluster')
  await exercise()
  await runRound(SEED, 100)
  await runUpdateRound(SEED, 40)
  findings = findingsIn(recorded, CLUSTER_RULES)
})

for (const { name } of CLUSTER_RULES) {
  test(`citus: ${name}`, () => {
    const broken = findings.filter(({ rule }) => rule === name)
    assert.deepEqual(
      broken.map(({ text }) => text),
      [],
    )
  })
}

test('citus: enough kinds of statements were looked at', () => {
  const bare = new Set(recorded.map(({ text }) => bareOf(text)))
  assert.ok(bare.size > 300, `only ${bare.size} texts`)
  const kinds = [
    /^insert into doc_/,
    /^insert into claim_/,
    /^insert into past_/,
    /^insert into smalt_outbox/,
    /^update doc_/,
    /^delete from doc_/,
  ]
  const unseen = kinds.filter((kind) => ![...bare].some((text) => kind.test(text)))
  assert.deepEqual(unseen.map(String), [])
})
