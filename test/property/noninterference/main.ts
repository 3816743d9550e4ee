/**
 * `npm run noninterference -- [--pairs N] [--seed N] [--per-round N] [--store sqlite|postgres]`: the non-interference
 * test for as long as wanted.
 */
import { parseArgs } from 'node:util'
import { chooseStore } from '../../support/store-kind.ts'
import { runRounds } from './rounds.ts'

const { values } = parseArgs({
  options: {
    pairs: { type: 'string' },
    seed: { type: 'string' },
    'per-round': { type: 'string' },
    store: { type: 'string', default: 'sqlite' },
  },
})
const { store } = values
if (store !== 'sqlite' && store !== 'postgres') throw new Error('--store is sqlite or postgres')
chooseStore(store)
const pairs = Number(values.pairs ?? 100_000)
const seed = Number(values.seed ?? Date.now() % 1_000_000_000)
const perRound = Number(values['per-round'] ?? 200)
const start = performance.now()
const { asked, answered } = await runRounds({ pairs, seed, perRound, isLoud: true })
const total = [...asked.values()].reduce((sum, count) => sum + count, 0)
console.log(
  `${total} pairs answered alike, ${answered} of them with 200, on ${asked.size} routes, ` +
    `${Math.round((performance.now() - start) / 1000)} s`,
)
