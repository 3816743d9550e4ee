/** What an import asks of the service, and a record that a worker thread parses because of its size. */
import type { ErrorObject } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json/json.ts'
import type { StreamedFormat } from '../../records/record.ts'
import type { DataResponse } from '../../service/response.ts'
import type { Target } from '../../service/service.ts'

interface ImportWrite {
  /** Whether documents that exist are replaced. */
  readonly upsert: boolean
  /** Whether the first batch with a failure ends the import, unwritten. */
  readonly stopsOnError: boolean
}

/** Parses a record and stores it, in a worker thread. */
export type OffloadRecord = (target: Target, text: Uint8Array, write: RecordWrite) => Promise<ImportOutcome>

export interface RecordWrite extends ImportWrite {
  readonly format: StreamedFormat
}

export interface ImportOutcome extends Pick<DataResponse, 'modifiedCount' | 'errors'> {
  readonly dataErrors?: readonly { readonly position?: number; readonly errors: readonly ErrorObject[] }[]
  /** Why a record that a worker thread parsed is no document. */
  readonly problem?: string
}

export function operationOf({ upsert }: ImportWrite): 'save' | 'insert' {
  return upsert ? 'save' : 'insert'
}

export function bodyOf(documents: readonly Json[], { upsert, stopsOnError }: ImportWrite): JsonObject {
  return {
    data: documents,
    ...(upsert && { upsert: true }),
    execution: { positions: true, atomic: stopsOnError },
  }
}
