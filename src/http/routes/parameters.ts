/** Checks the query parameters of a request against those that its route declares. */
import { isUtf8 } from 'node:buffer'
import { type ServiceError, invalidRequest } from '../../base/errors.ts'
import { didYouMean } from '../../base/suggest.ts'
import type { QueryParameter, Route } from './route.ts'

type Declaring = Pick<Route, 'query' | 'takesOtherParameters'>

/** Refuses what the route does not know: a misspelt parameter would otherwise be ignored. */
export function checkParameters(
  { query = [], takesOtherParameters = false }: Declaring,
  search: string,
): void {
  if (search === '') return
  if (!isText(search))
    throw invalidRequest('the query of the request holds percent signs that encode no UTF-8 text')
  const given = new Set<string>()
  for (const sent of new URLSearchParams(search).keys()) {
    const declared = query.find(({ name }) => name === sent || isLowerCaseOf(sent, name))
    if (!declared && !takesOtherParameters) throw unknownParameter(sent, query)
    const name = declared?.name ?? sent
    if (given.has(name)) throw invalidRequest(`the parameter "${name}" is given twice`)
    given.add(name)
  }
}

/** URLSearchParams replaces bytes that are no UTF-8, and a value would silently become another one. */
function isText(search: string): boolean {
  if (!BEYOND_ASCII.test(search)) return true
  const decoded = search.replaceAll(ENCODED, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return isUtf8(Buffer.from(decoded, 'latin1'))
}

const BEYOND_ASCII = /%[89a-f][0-9a-f]/i
const ENCODED = /%([0-9a-f]{2})/gi

/** `Q`, `P` and `S` may be written in lower case. */
function isLowerCaseOf(name: string, declared: string): boolean {
  return declared.length === 1 && name === declared.toLowerCase()
}

function unknownParameter(name: string, declared: readonly QueryParameter[]): ServiceError {
  const known = declared.map((each) => each.name)
  const list = known.length === 0 ? 'this route has none' : `known are ${known.join(', ')}`
  return invalidRequest(`there is no parameter "${name}"; ${list}${didYouMean(name, known)}`)
}
