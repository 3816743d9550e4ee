/** The routes that import documents from a body of any size. */
import { invalidRequest } from '../../../base/errors.ts'
import { flagFrom } from '../../../base/flag.ts'
import { Type } from '../../../base/json/shape.ts'
import { DELIMITERS } from '../../../records/delimiter.ts'
import type { StreamedFormat } from '../../../records/record.ts'
import { unsupported } from '../../body.ts'
import { type ImportOptions, importBody } from './import-body.ts'
import {
  type Call,
  type Reply,
  type Route,
  STREAM_TYPE,
  type StreamReply,
  dataReply,
  targetOf,
} from '../route.ts'

const CSV_TYPE = 'text/csv'

const common = {
  method: 'POST',
  operation: 'import',
  tag: 'data',
  access: 'authenticated',
  summary: 'Import documents from a body of any size',
  description:
    'The body is NDJSON (one document per line) or CSV (a header with the paths of fields). Documents are stored in ' +
    'batches. The response has a line for each batch that was stored and for each record that failed, and a last line with the status.',
  query: [
    {
      name: 'upsert',
      description: '`true` replaces documents that exist, by their identity.',
      example: 'false',
    },
    {
      name: 'onError',
      description:
        '`skip`, the default, goes on after records that failed; `stop` ends before the first batch that contains one.',
      example: 'skip',
    },
    {
      name: 'skip',
      description: 'Leaves out so many records at the beginning: `records` of an earlier response.',
      example: '0',
    },
    {
      name: 'delimiter',
      description: 'Between the cells of CSV: `,` `;` `|` or `tab`; detected when absent.',
    },
  ],
  takesUpload: true,
  body: {
    shape: Type.String({ description: 'One document per line.' }),
    type: STREAM_TYPE,
    example: '{"iso2Code":"CH","name":"Switzerland"}\n{"iso2Code":"FR","name":"France"}\n',
  },
  otherBody: {
    shape: Type.String({ description: 'A header, then one document per row.' }),
    type: CSV_TYPE,
    example: 'iso2Code,name\nCH,Switzerland\nFR,France\n',
  },
  reply: {
    shape: Type.String({ description: 'Lines of JSON.' }),
    type: STREAM_TYPE,
    example:
      '{"records":2,"modifiedCount":2}\n{"last":true,"status":"COMPLETE","records":2,"modifiedCount":2,"failed":0}\n',
  },
  errors: ['crud:NoAccess', 'crud:UnknownEntity', 'crud:InvalidRequest', 'crud:RequestTimeout'],
  occupies: () => 'streams',
  precheck: ({ app, caller, params: { entity = '', version } }) =>
    app.service.data.precheck(caller, { entity, ...(version !== undefined && { version }) }, 'insert'),
  handle: importDocuments,
} as const satisfies Omit<Route, 'path' | 'operationId'>

export const IMPORT_ROUTES: readonly Route[] = [
  { ...common, path: '/data/import/{entity}', operationId: 'importDefault' },
  { ...common, path: '/data/import/{entity}/{version}', operationId: 'import' },
]

/** An import that cannot begin is an ordinary error response; an empty write finds that out. */
async function importDocuments(call: Call): Promise<Reply | StreamReply> {
  const { app, caller, search } = call
  const options = optionsFrom(call, new URLSearchParams(search))
  const target = targetOf(call)
  const operation = options.upsert ? 'save' : 'insert'
  const nothing = { data: [], ...(options.upsert && { upsert: true }) }
  const response = await app.service.data[operation](caller, target, nothing)
  if (response.status !== 'COMPLETE') return dataReply(response)
  return { lines: importBody(call, options), isWrite: true }
}

function optionsFrom({ upload }: Call, parameters: URLSearchParams): ImportOptions {
  const skip = parameters.get('skip') ?? '0'
  if (!/^\d{1,15}$/.test(skip)) throw invalidRequest('"skip" must be a whole number, such as 2000')
  const format = formatOf(upload!.type)
  if (format !== 'csv' && parameters.has('delimiter')) throw invalidRequest('"delimiter" is for CSV only')
  return {
    format,
    upsert: flagFrom('upsert', parameters.get('upsert')) ?? false,
    stopsOnError: choice(parameters, 'onError', ['skip', 'stop']) === 'stop',
    skip: Number(skip),
    ...delimiterFrom(parameters),
  }
}

function formatOf(type: string): StreamedFormat {
  if (type === STREAM_TYPE) return 'ndjson'
  if (type === CSV_TYPE) return 'csv'
  throw unsupported(`send the documents as ${STREAM_TYPE} or ${CSV_TYPE}`)
}

function choice(parameters: URLSearchParams, name: string, values: readonly [string, ...string[]]): string {
  const value = parameters.get(name) ?? values[0]
  if (values.includes(value)) return value
  throw invalidRequest(`"${name}" must be ${values.join(' or ')}, not "${value}"`)
}

function delimiterFrom(parameters: URLSearchParams): { readonly delimiter?: string } {
  const given = parameters.get('delimiter')
  if (given === null) return {}
  const delimiter = DELIMITERS.find((each) => each === (given === 'tab' ? '\t' : given))
  if (delimiter !== undefined) return { delimiter }
  throw invalidRequest('"delimiter" must be , or ; or | or tab; in a URL, ; is written %3B')
}
