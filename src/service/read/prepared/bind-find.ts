/** Binds the literals of a request as arguments of a prepared find, cast to the types of their fields. */
import { type Json, isArray } from '../../../base/json/json.ts'
import type { Arguments, Parameter } from '../../../lang/operand.ts'
import { parametersIn } from '../../../lang/parameters.ts'
import type { PlannedFind } from '../plan-find.ts'
import type { QueryShape } from './query-shape.ts'

/** A planned find with parameters in its query. */
export interface PreparedFind {
  readonly find: PlannedFind
  readonly parameters: readonly Parameter[]
}

/**
 * Undefined if a literal has no parameter, because it would then not be validated, or if two fields cast it
 * differently.
 */
export function preparedFrom(find: PlannedFind, literals: number): PreparedFind | undefined {
  const { query } = find.plan.read
  const parameters = new Map<number, Parameter>()
  for (const parameter of query ? parametersIn(query) : []) {
    const known = parameters.get(parameter.param)
    if (known && known.type !== parameter.type) return undefined
    parameters.set(parameter.param, parameter)
  }
  if (parameters.size !== literals) return undefined
  return { find, parameters: [...parameters.values()].sort((a, b) => a.param - b.param) }
}

/**
 * Undefined if a literal does not have the type of its field: the request is then planned on its own, which
 * refuses it.
 */
export function bindFind(
  { find, parameters }: PreparedFind,
  { literals, after }: Pick<QueryShape, 'literals' | 'after'>,
): PlannedFind | undefined {
  const cast = castArguments(parameters, literals)
  if (!cast) return undefined
  const plan = { ...find.plan, read: { ...find.plan.read, arguments: cast } }
  if (!find.page) return { ...find, plan }
  return { ...find, plan, page: { size: find.page.size, ...(after !== undefined && { after }) } }
}

function castArguments(parameters: readonly Parameter[], literals: readonly Json[]): Arguments | undefined {
  const cast: Json[] = []
  for (const [i, { type }] of parameters.entries()) {
    const literal = literals[i]!
    const value = isArray(literal) ? castAll(literal, type!) : type!.cast(literal)
    if (value === undefined) return undefined
    cast.push(value)
  }
  return cast
}

function castAll(values: readonly Json[], type: NonNullable<Parameter['type']>): Json | undefined {
  const cast: Json[] = []
  for (const each of values) {
    const value = type.cast(each)
    if (value === undefined) return undefined
    cast.push(value)
  }
  return cast
}
