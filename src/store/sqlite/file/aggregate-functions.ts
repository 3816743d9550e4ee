/** Our functions for aggregations in SQLite: exact numbers, doubles, and periods of dates. */
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { orderKey, parseDecimal } from '../../../base/decimal.ts'
import { createDoubleSum } from '../../../base/double-sum.ts'
import { averageOf, createExactExtreme, createExactSum } from '../../../base/exact-aggregate.ts'
import { numberText } from '../../../base/json/json.ts'
import { doubleResult } from '../../../lang/aggregate.ts'
import { type Period, type PeriodStart, periodStart } from '../../../schema/periods/period.ts'

export function addAggregateFunctions(database: DatabaseSync): void {
  addAggregate(database, 'smalt_sum', createExactSum, (sum) => (sum.count() === 0 ? null : sum.total()))
  addAggregate(database, 'smalt_avg', createExactSum, (sum) => (sum.count() === 0 ? null : sum.average()))
  for (const name of ['min', 'max']) {
    const create = () => createExactExtreme(name === 'max')
    addAggregate(database, `smalt_${name}`, create, (extreme) => extreme.result() ?? null)
  }
  const double = (): Accumulator<DoubleSum> => {
    const sum = createDoubleSum()
    return { ...sum, add: (text) => sum.add(Number(text)) }
  }
  addAggregate(database, 'smalt_double_sum', double, (sum) => (sum.count() === 0 ? null : sum.total()))
  addAggregate(database, 'smalt_double_avg', double, (sum) =>
    sum.count() === 0 ? null : sum.total() / sum.count(),
  )
  const options = { deterministic: true } as const
  database.function('smalt_double', options, (text) =>
    typeof text === 'string' && parseDecimal(text) ? Number(text) : null,
  )
  database.function('smalt_double_number', options, (value) =>
    typeof value === 'number' ? orderKey(numberText(doubleResult(value))) : null,
  )
  database.function('smalt_average', options, (sum, count) =>
    typeof sum === 'string' ? averageOf(sum, Number(count)) : null,
  )
  database.function('smalt_period', options, (date, period, timeZone) =>
    typeof date === 'string' ? (startOf(period, timeZone)(date) ?? null) : null,
  )
}

type DoubleSum = Pick<ReturnType<typeof createDoubleSum>, 'total' | 'count'>
type Accumulator<T> = T & { readonly add: (text: string) => void }

/** The argument is the JSON text of a value; values that are no numbers are skipped. */
function addAggregate<T>(
  database: DatabaseSync,
  name: string,
  create: () => Accumulator<T>,
  result: (accumulator: Accumulator<T>) => SQLOutputValue,
): void {
  database.aggregate(name, {
    deterministic: true,
    // A function, because all groups would share one object.
    start: () => create() as unknown as SQLOutputValue,
    step: (state, text) => {
      if (typeof text === 'string' && parseDecimal(text)) (state as unknown as Accumulator<T>).add(text)
      return state
    },
    result: (state) => result(state as unknown as Accumulator<T>),
  })
}

const starts = new Map<string, PeriodStart>()
const MAX_STARTS = 50

function startOf(period: SQLOutputValue, timeZone: SQLOutputValue): PeriodStart {
  const key = `${String(period)} ${String(timeZone)}`
  const known = starts.get(key)
  if (known) return known
  if (starts.size >= MAX_STARTS) starts.clear()
  const made = periodStart(period as Period, typeof timeZone === 'string' ? timeZone : undefined)
  starts.set(key, made)
  return made
}
