/**
 * `npm run agreement -- [--cases N] [--seed N] [--per-round N] [--store sqlite|postgres] [--references]`: the agreement
 * test for as long as wanted; across references it asks all stores at once.
 */
import { parseArgs } from 'node:util'
import { chooseStore } from '../../support/store-kind.ts'
import { agreeOnReferences } from './agree-on-references.ts'
import { runRounds } from './rounds.ts'

const { values } = parseArgs({
  options: {
    cases: { type: 'string' },
    seed: { type: 'string' },
    'per-round': { type: 'string' },
    store: { type: 'string', default: 'sqlite' },
    references: { type: 'boolean', default: false },
  },
})
const { store } = values
if (store !== 'sqlite' && store !== 'postgres') throw new Error('--store is sqlite or postgres')
const seed = Number(values.seed ?? Date.now() % 1_000_000_000)
const start = performance.now()
const seconds = (): string => `${Math.round((performance.now() - start) / 1000)} s`

if (values.references) {
  const cases = Number(values.cases ?? 10_000)
  const perRound = Number(values['per-round'] ?? 100)
  await agreeOnReferences({ cases, seed, perRound, isThorough: true, isLoud: true })
  console.log(`${cases} cases across references answered alike, ${seconds()}`)
} else {
  chooseStore(store)
  const cases = Number(values.cases ?? 100_000)
  const perRound = Number(values['per-round'] ?? (store === 'postgres' ? 500 : 200))
  const { answered, filled, refused } = await runRounds({ cases, seed, perRound, isLoud: true })
  console.log(`${answered} answered alike (${filled} not empty), ${refused} refused alike, ${seconds()}`)
}
