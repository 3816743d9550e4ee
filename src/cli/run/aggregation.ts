/** Groups and values of `smalt aggregate` as its options spell them. */
import { ServiceError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json/json.ts'
import { DEFAULT_LIMITS } from '../../base/limits.ts'
import { readFilter } from '../../lang/text/read-filter.ts'
import { jsonFrom } from '../client/request-parts.ts'
import { usageError } from '../usage-error.ts'

interface AggregateFlags {
  readonly by?: readonly string[]
  readonly value?: readonly string[]
  readonly having?: string
}

const FUNCTIONS = ['sum', 'avg', 'min', 'max', 'distinct']

/** `--by shipped=date:month:Europe/Zurich` truncates a date in a time zone; `--value total=sum:amount` names a value of each group. */
export function aggregation({ by = [], value = [], having }: AggregateFlags): JsonObject {
  const values = new Map<string, Json>()
  for (const [name, call] of value.map(valueFrom)) {
    if (values.has(name)) throw usageError(`two values have the name ${name}; give each its own`)
    values.set(name, call)
  }
  return {
    ...(by.length > 0 && { groupBy: by.map(groupFrom) }),
    ...(value.length > 0 && { values: Object.fromEntries(values) }),
    ...(having !== undefined && { having: havingFrom(having) }),
  }
}

function groupFrom(text: string): Json {
  const [, name, field, truncate, timeZone] = GROUP.exec(text) ?? []
  if (field === undefined)
    throw usageError(
      '--by must be a field, or a date and a period such as date:month or date:day:Europe/Zurich; shipped=date:month names it',
    )
  const as = name ?? truncate
  if (as === undefined) return field
  return {
    field,
    ...(truncate !== undefined && { truncate }),
    ...(timeZone !== undefined && { timeZone }),
    as,
  }
}

/** `[NAME=]FIELD[:PERIOD[:ZONE]]` */
const GROUP = /^(?:([^=:]+)=)?([^=:]+)(?::([a-z]+)(?::(.+))?)?$/

/** As `conditionFrom`, but requests have no other spelling of `having` than a query, so a text is read here. */
function havingFrom(text: string): Json {
  if (text.trimStart().startsWith('{')) return jsonFrom(text, '--having')
  try {
    return readFilter(text, DEFAULT_LIMITS).query
  } catch (error) {
    throw error instanceof ServiceError ? usageError(`--having is no filter: ${error.message}`) : error
  }
}

function valueFrom(text: string): readonly [string, Json] {
  const [, name, call] = /^([^=]+)=(.+)$/.exec(text) ?? []
  const [, verb = '', field = ''] = /^([a-z]+)(?::(.+))?$/.exec(call ?? '') ?? []
  if (name !== undefined && verb === 'count' && field === '') return [name, { $count: true }]
  if (name !== undefined && FUNCTIONS.includes(verb) && field !== '') return [name, { [`$${verb}`]: field }]
  throw usageError(`--value must be NAME=count, or NAME=FUNCTION:FIELD with ${FUNCTIONS.join(', ')}`)
}
