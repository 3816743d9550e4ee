/** Sends a file to the import of an entity, part by part, and collects what was rejected. */
import { client } from '../../app/session.ts'
import { RequestFailure } from '../../client/failure.ts'
import type { FileFormat, Reject } from '../../client/import-client.ts'
import type { Target } from '../../client/types.ts'
import { partsOf } from '../../schema/file-parts.ts'

export interface ImportJob {
  readonly target: Target
  readonly file: File
  readonly format: FileFormat
  readonly isUpsert: boolean
  readonly stopsOnError: boolean
}

export interface ImportState {
  readonly sentBytes: number
  readonly stored: number
  readonly rejected: number
  /** The first ones; their lines are those of the file. */
  readonly rejects: readonly Reject[]
}

export const NOTHING_SENT: ImportState = { sentBytes: 0, stored: 0, rejected: 0, rejects: [] }

/** More rejects than this are counted, not kept. */
const MAX_REJECTS = 10_000

/** Calls back after each part. What was stored before a failure stays stored. */
export async function runImport(
  job: ImportJob,
  signal: AbortSignal,
  onState: (state: ImportState) => void,
): Promise<ImportState> {
  const { target, file, format, isUpsert, stopsOnError } = job
  let state = NOTHING_SENT
  for await (const { bytes, linesBefore, end } of partsOf(file, format)) {
    const imported = await client.importPart(target, { format, bytes, isUpsert, stopsOnError }, signal)
    const rejects = imported.rejects.map(({ line, problems }) => ({ line: line + linesBefore, problems }))
    state = {
      sentBytes: end,
      stored: state.stored + imported.modifiedCount,
      rejected: state.rejected + rejects.length,
      rejects: [...state.rejects, ...rejects].slice(0, MAX_REJECTS),
    }
    onState(state)
    if (stopsOnError && rejects.length > 0) return state
  }
  return state
}

/** By the name of the file, else by how it begins. */
export async function formatOf(file: File): Promise<FileFormat> {
  if (/\.(ndjson|jsonl)$/i.test(file.name)) return 'ndjson'
  if (/\.(csv|tsv)$/i.test(file.name)) return 'csv'
  const begin = await file.slice(0, 1_024).text()
  return begin.trimStart().startsWith('{') ? 'ndjson' : 'csv'
}

/** A JSON array is neither of the formats; better to say so than to reject every line of it. */
export async function refuseArray(file: File): Promise<void> {
  const begin = await file.slice(0, 1_024).text()
  if (!/^\uFEFF?\s*\[/.test(begin)) return
  const msg =
    'the file is a JSON array; the page imports CSV, and NDJSON with one document in each line. smalt import takes JSON, too'
  throw new RequestFailure(0, [{ errorCode: '', msg, context: '' }])
}
