/** Reads `page`, the part of a find that asks for documents by cursor. */
import { invalidRequest } from '../../base/errors.ts'
import { memberChecker } from '../../base/json/check-members.ts'
import { asBoolean } from '../../base/json/decode.ts'
import { type JsonObject, isObject, pointer } from '../../base/json/json.ts'
import { MAX_PAGE_SIZE, PageShape } from './data-shapes.ts'

export interface PageRequest {
  readonly size: number
  /** The cursor that the page before it returned; absent: the first page. */
  readonly after?: string
}

const DEFAULT_SIZE = 100

const KNOWN = Object.keys(PageShape.properties).join(', ')

const checkMembers = memberChecker(PageShape.properties, {
  refuse: (message, at) => invalidRequest(message, `/page${at}`),
  unknown: (name) => `"page" does not know "${name}"; known are ${KNOWN}`,
  expected: {
    size: `must be an integer from 1 to ${MAX_PAGE_SIZE}, such as 100`,
    after: 'must be a string, the "next" of the page before',
    count: 'must be true or false',
  },
  otherwise: 'has the wrong type',
})

/** The documents of the page, and whether all matches are counted, which costs more than the page itself. */
interface ReadPage {
  readonly page: PageRequest
  readonly counted: boolean
}

export function readPage(request: JsonObject): ReadPage | undefined {
  const { page, execution } = request
  if (page === undefined || page === null) return undefined
  if (!isObject(page)) {
    throw invalidRequest(`"page" must be an object, such as {"size":100}; it may hold ${KNOWN}`, '/page')
  }
  checkMembers(page)
  const range = RANGE.find((key) => request[key] !== undefined && request[key] !== null)
  if (range !== undefined) {
    throw invalidRequest(`"page" takes the place of "${range}"; send one of them`, pointer('', range))
  }
  const { size, after } = page
  return {
    page: {
      size: typeof size === 'number' ? size : DEFAULT_SIZE,
      ...(typeof after === 'string' && { after }),
    },
    counted: readCounted(asBoolean(page['count']), isObject(execution) ? execution['count'] : undefined),
  }
}

const RANGE = ['range', 'from', 'to', 'maxResults'] as const

function readCounted(own: boolean | undefined, ofExecution: unknown): boolean {
  const other = typeof ofExecution === 'string' ? ofExecution === 'exact' : undefined
  if (own !== undefined && other !== undefined && own !== other) {
    throw invalidRequest('"page" and "execution" must agree about "count"; send one of them', '/page/count')
  }
  return own ?? other ?? false
}
