/** Parses JSON into `Update<Named>`. Several operators in one object are applied in the order of their keys. */
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject, pointer } from '../../base/json/json.ts'
import { isIndex } from '../../base/path.ts'
import { type Bounds, type Budget, budgetIn } from '../budget.ts'
import { withRequestTime } from '../../schema/request-time.ts'
import { parseQuery } from './parse-query.ts'
import type { Named } from '../query.ts'
import { decoders, refuseWith } from '../../base/json/decode.ts'
import type { RValue, Update, UpdateStep } from '../update.ts'

const read = decoders(refuseWith('query-api:InvalidUpdate'))

export function parseUpdate(value: Json, at: string, bounds: Bounds): Update<Named> {
  const budget = budgetIn(bounds)
  const update = parseSteps(value, at, budget)
  const { limits } = budget
  // Each step runs for every document, and a step inside `$foreach` for every element.
  if (stepsIn(update) > limits.queryNodes) {
    const message = `an update may have at most ${limits.queryNodes} steps`
    throw new ServiceError('crud:LimitExceeded', message, { at })
  }
  return update
}

function parseSteps(value: Json, at: string, budget: Budget): Update<Named> {
  return isArray(value)
    ? value.flatMap((each, i) => parsePartial(each, pointer(at, i), budget))
    : parsePartial(value, at, budget)
}

function stepsIn(update: Update<Named>): number {
  let steps = update.length
  for (const step of update) {
    if (step.kind === 'foreach' && step.action !== 'remove') steps += stepsIn(step.action)
  }
  return steps
}

function parsePartial(value: Json, at: string, budget: Budget): Update<Named> {
  const partial = read.object(value, at, 'an update')
  const operators = Object.keys(partial)
  if (operators.length === 0) throw read.refuse(`an update needs one of ${KNOWN}`, at)
  return operators.flatMap((operator) =>
    parseOperator(operator, partial[operator]!, pointer(at, operator), budget),
  )
}

const KNOWN = '$set, $unset, $add, $append, $insert, $foreach'

function parseOperator(operator: string, value: Json, at: string, budget: Budget): Update<Named> {
  switch (operator) {
    case '$set':
    case '$add':
      return parseAssignments(operator === '$set' ? 'set' : 'add', value, at, budget)
    case '$unset':
      return parseUnset(value, at)
    case '$append':
      return [parseAppend(value, at, budget)]
    case '$insert':
      return [parseInsert(value, at, budget)]
    case '$foreach':
      return [parseForeach(value, at, budget)]
    default:
      throw read.refuse(`"${operator}" is not an update operator; known are ${KNOWN}`, at)
  }
}

function parseAssignments(kind: 'set' | 'add', value: Json, at: string, budget: Budget): Update<Named> {
  const assignments = read.object(value, at, 'the operand')
  return Object.keys(assignments).map((path) => {
    const place = pointer(at, path)
    const operand = parseValue(assignments[path]!, place, budget)
    const isNull = operand.kind === 'literal' && operand.value === null
    if (kind === 'add' && isNull) throw read.refuse('null cannot be added', place)
    return { kind, field: { path, at: place }, value: operand }
  })
}

function parseUnset(value: Json, at: string): Update<Named> {
  const paths = isArray(value) ? value : [value]
  return paths.map((path, i) => {
    const place = isArray(value) ? pointer(at, i) : at
    if (typeof path !== 'string') throw read.refuse('"$unset" takes a path or an array of paths', place)
    return { kind: 'unset', field: { path, at: place } }
  })
}

function parseAppend(value: Json, at: string, budget: Budget): UpdateStep<Named> {
  const { path, place, operand } = onlyPath(value, at)
  return { kind: 'append', array: { path, at: place }, values: parseValues(operand, place, budget) }
}

function parseInsert(value: Json, at: string, budget: Budget): UpdateStep<Named> {
  const { path, place, operand } = onlyPath(value, at)
  const dot = path.lastIndexOf('.')
  const index = path.slice(dot + 1)
  if (dot === -1 || !isIndex(index))
    throw read.refuse('"$insert" needs a path that ends in an index, such as "tags.0"', place)
  const array = { path: path.slice(0, dot), at: place }
  return { kind: 'insert', array, index: Number(index), values: parseValues(operand, place, budget) }
}

function onlyPath(value: Json, at: string): { path: string; place: string; operand: Json } {
  const operands = read.object(value, at, 'the operand')
  const [path, ...others] = Object.keys(operands)
  if (path === undefined || others.length > 0)
    throw read.refuse('exactly one array must be named, such as {"tags": "new"}', at)
  return { path, place: pointer(at, path), operand: operands[path]! }
}

/** An array is always a list of elements, never a single element. */
function parseValues(value: Json, at: string, budget: Budget): readonly RValue<Named>[] {
  return isArray(value)
    ? value.map((each, i) => parseValue(each, pointer(at, i), budget))
    : [parseValue(value, at, budget)]
}

function parseForeach(value: Json, at: string, budget: Budget): UpdateStep<Named> {
  const operand = read.object(value, at, 'the operand')
  const [path, ...others] = Object.keys(operand).filter((key) => key !== '$update')
  if (path === undefined || others.length > 0 || !Object.hasOwn(operand, '$update')) {
    throw read.refuse('"$foreach" needs one array with its selector, and "$update"', at)
  }
  const place = pointer(at, path)
  const selector = operand[path]!
  if (selector !== '$all' && !isObject(selector)) {
    throw read.refuse('"$foreach" selects elements by "$all" or by a query', place)
  }
  return {
    kind: 'foreach',
    array: { path, at: place },
    ...(selector !== '$all' && { selector: parseQuery(selector, place, budget) }),
    action: parseAction(operand['$update']!, pointer(at, '$update'), budget),
  }
}

function parseAction(value: Json, at: string, budget: Budget): 'remove' | Update<Named> {
  if (value === '$remove') return 'remove'
  if (typeof value === 'string') throw read.refuse('"$update" is "$remove" or an update', at)
  return parseSteps(value, at, budget)
}

/** The text `$null` is null; an object with the single key `$valueof` names a field; other values are literals. */
function parseValue(value: Json, at: string, { now }: Budget): RValue<Named> {
  if (value === '$null') return { kind: 'literal', value: null }
  if (!isValueOf(value)) return { kind: 'literal', value: now ? withRequestTime(value, now) : value }
  const path = read.text(value, '$valueof', at)
  return { kind: 'valueOf', field: { path, at: pointer(at, '$valueof') } }
}

function isValueOf(value: Json): value is JsonObject {
  return isObject(value) && Object.keys(value).length === 1 && Object.hasOwn(value, '$valueof')
}
