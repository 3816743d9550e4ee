/** Imports documents from the text of a file, NDJSON or CSV. */
import { asList, asObject, pathOf } from './data-client.ts'
import { type ServiceProblem, RequestFailure, asProblem } from './failure.ts'
import { parseJson } from './json.ts'
import type { Transport } from './transport.ts'
import type { Target } from './types.ts'

export type FileFormat = 'csv' | 'ndjson'

/** A part of a file: whole records; of CSV with the header. */
export interface ImportPart {
  readonly format: FileFormat
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Whether documents that exist are replaced, by their identity. */
  readonly isUpsert: boolean
  /** Whether the first failure ends the import. */
  readonly stopsOnError: boolean
}

/** A record that was not stored, with the line of the part where it begins. */
export interface Reject {
  readonly line: number
  readonly problems: readonly ServiceProblem[]
}

export interface Imported {
  readonly records: number
  readonly modifiedCount: number
  readonly rejects: readonly Reject[]
}

export type ImportClient = (target: Target, part: ImportPart, signal?: AbortSignal) => Promise<Imported>

const TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const

export function importClient(transport: Transport): ImportClient {
  return async (target, { format, bytes, isUpsert, stopsOnError }, signal) => {
    const query = { upsert: String(isUpsert), onError: stopsOnError ? 'stop' : 'skip' }
    const content = { type: TYPES[format], bytes }
    const text = await transport.text('POST', pathOf('import', target), { content, query, signal })
    return importedIn(text)
  }
}

/** One line for each reject and each batch, and a last one; without it the answer is incomplete. */
function importedIn(text: string): Imported {
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => asObject(parseJson(line)))
  const last = lines.at(-1)
  if (last?.['last'] !== true) throw new RequestFailure(0, [INCOMPLETE])
  if (last['status'] === 'ERROR') throw new RequestFailure(200, asList(last['errors']).map(asProblem))
  return {
    records: Number(last['records']),
    modifiedCount: Number(last['modifiedCount']),
    rejects: lines
      .filter((line) => line['line'] !== undefined)
      .map(({ line, errors }) => ({ line: Number(line), problems: asList(errors).map(asProblem) })),
  }
}

const INCOMPLETE: ServiceProblem = {
  errorCode: 'client:Incomplete',
  msg: 'the service ended its answer early; some records may be stored already',
  context: '',
}
