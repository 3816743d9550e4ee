/** Routes of the history of documents. */
import { HistoryResponseShape } from '../../../service/request/data-shapes.ts'
import { type Call, type Reply, type Route, dataReply, targetOf } from '../route.ts'

const COMMON = {
  method: 'GET',
  operation: 'history',
  tag: 'data',
  access: 'authenticated',
  summary: 'List the versions of a document',
  description:
    'Oldest first, of an entity whose entity info says `"history": true`. Access is what it is now: of versions that the caller could not find, nothing is told.',
  query: [
    { name: 'from', description: 'Index of the first version, zero-based.', example: '0' },
    { name: 'to', description: 'Index of the last version, included.' },
    { name: 'maxResults', description: 'Number of versions; `to` wins.', example: '10' },
  ],
  reply: { shape: HistoryResponseShape, name: 'HistoryResponse', example: example() },
  errors: ['crud:NoHistory', 'crud:NoAccess', 'crud:UnknownEntity', 'crud:ResultSizeTooLarge'],
  handle: history,
} as const satisfies Omit<Route, 'path' | 'operationId'>

export const HISTORY_ROUTES: readonly Route[] = [
  { ...COMMON, path: '/data/history/{entity}/{id}', operationId: 'historyDefault' },
  { ...COMMON, path: '/data/history/{entity}/{version}/{id}', operationId: 'history' },
]

async function history(call: Call): Promise<Reply> {
  const { app, caller, params, search } = call
  const target = { ...targetOf(call), id: params.id ?? '' }
  return dataReply(await app.service.data.history(caller, target, new URLSearchParams(search)))
}

function example() {
  const documentVersion = '0198f1c2-7c3e-7000-8000-000000000001:1767323045678901'
  const document = { _id: '0198f1c2-7c3e-7000-8000-000000000001', iso2Code: 'CH', name: 'Switzerland' }
  const date = '2026-01-02T03:04:05.678901Z'
  return {
    entity: 'country',
    entityVersion: '1.0.0',
    status: 'COMPLETE',
    modifiedCount: 0,
    matchCount: 1,
    processed: [{ documentVersion, date, operation: 'insert', principal: 'ann', document }],
    resultMetadata: [{ documentVersion }],
  }
}
