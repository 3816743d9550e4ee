/** Routes of saved searches. The number of segments distinguishes the two forms with a name. */
import type { Code } from '../../../base/errors.ts'
import { DataResponseShape, SearchParametersShape } from '../../../service/request/data-shapes.ts'
import type { SearchTarget } from '../../../service/service.ts'
import {
  type Call,
  type Content,
  type QueryParameter,
  type Reply,
  type Route,
  dataReply,
  targetOf,
} from '../route.ts'

export const PAGE_PARAMETERS: readonly QueryParameter[] = [
  { name: 'size', description: 'Asks for pages by cursor: the most documents of a page, 1 to 10000.' },
  { name: 'after', description: 'The `next` of the page before.' },
  {
    name: 'count',
    description: 'Whether all matches are counted; by default true without `size` and `after`, else false.',
  },
]

const OVERRIDES: readonly QueryParameter[] = [
  { name: 'P', description: 'Replaces the projection, as in a simple find.', example: '*:1r' },
  { name: 'S', description: 'Replaces the order, as in a simple find.' },
  { name: 'from', description: 'Index of the first document, zero-based.', example: '0' },
  { name: 'to', description: 'Index of the last document, included.' },
  { name: 'maxResults', description: 'Number of documents; `to` wins.', example: '10' },
  ...PAGE_PARAMETERS,
]

const FAILURES: readonly Code[] = [
  'crud:NoAccess',
  'crud:UnknownEntity',
  'rest-crud:SavedSearchError',
  'crud:saved-search:missing',
  'crud:saved-search:noDefaultValue',
  'crud:saved-search:invalidType',
  'metadata:IncompatibleValue',
  'crud:InvalidCursor',
  'crud:ResultSizeTooLarge',
  'store-crud:Timeout',
]

const FOUND: Content = { shape: DataResponseShape, name: 'DataResponse' }

export const SEARCH_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/data/search/{entity}',
    operationId: 'searches',
    tag: 'data',
    access: 'authenticated',
    summary: 'List the saved searches of an entity',
    query: OVERRIDES,
    reply: FOUND,
    errors: ['crud:NoAccess'],
    handle: list,
  },
  ...bothForms({
    method: 'GET',
    operationId: 'simpleSearch',
    operation: 'search',
    summary: 'Run a saved search by query parameters',
    description: 'Every query parameter of another name is a value for the parameter of that name.',
    query: OVERRIDES,
    takesOtherParameters: true,
    reply: FOUND,
    errors: FAILURES,
    handle: runSimple,
  }),
  ...bothForms({
    method: 'POST',
    operationId: 'search',
    operation: 'search',
    summary: 'Run a saved search',
    query: OVERRIDES,
    description: 'The body holds a value for each parameter; without one no values are supplied.',
    body: {
      shape: SearchParametersShape,
      name: 'SearchParameters',
      example: { iso2Code: 'CH' },
      required: false,
    },
    reply: FOUND,
    errors: FAILURES,
    isRead: true,
    handle: run,
  }),
]

function bothForms(route: Omit<Route, 'path' | 'tag' | 'access'>): readonly Route[] {
  const { operationId } = route
  const common = { ...route, tag: 'data', access: 'authenticated' } as const
  return [
    { ...common, path: '/data/search/{entity}/{name}', operationId: `${operationId}Default` },
    { ...common, path: '/data/search/{entity}/{version}/{name}' },
  ]
}

async function list(call: Call): Promise<Reply> {
  const { app, caller, search } = call
  return dataReply(await app.service.data.searches(caller, targetOf(call), new URLSearchParams(search)))
}

async function runSimple(call: Call): Promise<Reply> {
  const { app, caller, search } = call
  return dataReply(
    await app.service.data.simpleSearch(caller, searchTarget(call), new URLSearchParams(search)),
  )
}

async function run(call: Call): Promise<Reply> {
  const { app, caller, search, body } = call
  return dataReply(
    await app.service.data.search(caller, searchTarget(call), body, new URLSearchParams(search)),
  )
}

function searchTarget(call: Call): SearchTarget {
  return { ...targetOf(call), name: call.params['name'] ?? '' }
}
