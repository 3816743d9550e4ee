/** Checks the query parameters of a request against those that its route declares. */
import { ServiceError } from '../../base/errors.ts'
import { didYouMean } from '../../base/suggest.ts'
import type { Route } from './route.ts'

type Declaring = Pick<Route, 'query' | 'takesOtherParameters'>

/** Refuses what the route does not know: a misspelt parameter would otherwise be ignored. */
export function checkParameters(
  { query = [], takesOtherParameters = false }: Declaring,
  search: string,
): void {
  if (search === '') return
  const known = query.map(({ name }) => name)
  const given = new Set<string>()
  for (const [name] of new URLSearchParams(search)) {
    const declared = known.find((each) => each === name || isLowerCaseOf(name, each))
    if (declared === undefined && !takesOtherParameters) throw unknownParameter(name, known)
    if (given.has(declared ?? name)) throw invalid(`the parameter "${name}" is given twice`)
    given.add(declared ?? name)
  }
}

/** `Q`, `P` and `S` may be written in lower case. */
function isLowerCaseOf(name: string, declared: string): boolean {
  return declared.length === 1 && name === declared.toLowerCase()
}

function unknownParameter(name: string, known: readonly string[]): ServiceError {
  const list = known.length === 0 ? 'this route has none' : `known are ${known.join(', ')}`
  return invalid(`there is no parameter "${name}"; ${list}${didYouMean(name, known)}`)
}

function invalid(message: string): ServiceError {
  return new ServiceError('crud:InvalidRequest', message)
}
