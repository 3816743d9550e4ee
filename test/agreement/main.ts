/** `npm run agreement -- [--cases N] [--seed N]`: the agreement test for as long as wanted. */
import { parseArgs } from 'node:util'
import { runRounds } from './rounds.ts'

const { values } = parseArgs({ options: { cases: { type: 'string' }, seed: { type: 'string' } } })
const cases = Number(values.cases ?? 100_000)
const seed = Number(values.seed ?? Date.now() % 1_000_000_000)
const start = performance.now()
const result = await runRounds({ cases, seed, isLoud: true })
console.log(
  `${result.answered} answered alike (${result.filled} not empty), ${result.refused} refused alike, ` +
    `${Math.round((performance.now() - start) / 1000)} s`,
)
