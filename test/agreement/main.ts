/**
 * `npm run agreement -- [--cases N] [--seed N] [--per-round N] [--store sqlite|postgres]`: the agreement test for as long
 * as wanted.
 */
import { parseArgs } from 'node:util'
import { chooseStore } from '../support/store-kind.ts'
import { runRounds } from './rounds.ts'

const { values } = parseArgs({
  options: {
    cases: { type: 'string' },
    seed: { type: 'string' },
    'per-round': { type: 'string' },
    store: { type: 'string', default: 'sqlite' },
  },
})
const { store } = values
if (store !== 'sqlite' && store !== 'postgres') throw new Error('--store is sqlite or postgres')
chooseStore(store)
const cases = Number(values.cases ?? 100_000)
const seed = Number(values.seed ?? Date.now() % 1_000_000_000)
const perRound = Number(values['per-round'] ?? (store === 'postgres' ? 500 : 200))
const start = performance.now()
const result = await runRounds({ cases, seed, perRound, isLoud: true })
console.log(
  `${result.answered} answered alike (${result.filled} not empty), ${result.refused} refused alike, ` +
    `${Math.round((performance.now() - start) / 1000)} s`,
)
