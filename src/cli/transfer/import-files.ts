/** `smalt import FILE…`: sends the documents of files to a service, batch by batch. */
import { resolve } from 'node:path'
import type { Json } from '../../base/json/json.ts'
import { MissingRecordsError, batchesOf } from '../../records/read.ts'
import { RecordsError, type SourceRecord } from '../../records/record.ts'
import { createClient } from '../client/client.ts'
import { errorLine } from '../client/failure.ts'
import { countFrom } from '../client/request-parts.ts'
import type { Environment } from '../config/settings.ts'
import { EXIT, Exit } from '../exit.ts'
import { createProgress } from '../run/progress.ts'
import { usageError } from '../usage-error.ts'
import type { FileImportFlags } from './import-flags.ts'
import { type ImportState, type Position, openState } from './import-state.ts'
import { inferAndCreate } from './infer-files.ts'
import { type Reject, type Rejects, openRejects } from './rejects.ts'
import { type Failure, type Sender, sendBatch } from './send-batch.ts'
import { type SourceFile, delimiterFrom, recordsOf, refuseReadOnce, sourceFiles } from './source-files.ts'

const BATCH = 1_000
const MAX_BATCH = 10_000
/** Well below the limit for the body of a request. */
const BATCH_BYTES = 4 * 1024 * 1024

export async function runImportFiles(
  paths: readonly string[],
  flags: FileImportFlags,
  environment: Environment,
): Promise<void> {
  const { entity, version, json = false, upsert = false } = flags
  if (paths.length === 0) throw usageError('import takes files, or lightblue')
  if (entity === undefined || entity === '') throw usageError('import needs --entity')
  const onError = flags['on-error'] ?? 'stop'
  if (onError !== 'stop' && onError !== 'skip')
    throw usageError(`--on-error must be stop or skip, not ${onError}`)
  if (flags.rejects !== undefined && onError === 'stop')
    throw usageError('--rejects is only for --on-error skip')
  if (flags.yes === true && flags.infer !== true) throw usageError('--yes is only for --infer')
  const batch = countFrom('--batch', flags.batch) ?? BATCH
  if (batch > MAX_BATCH) throw usageError(`--batch must be at most ${MAX_BATCH}`)
  const files = sourceFiles(paths, flags.format)
  if (flags.resume !== undefined) refuseReadOnce(files, '--resume')
  if (flags.delimiter !== undefined && !files.some(({ format }) => format === 'csv'))
    throw usageError('--delimiter is only for CSV')
  const client = createClient(flags, environment)
  const csv = delimiterFrom(flags.delimiter)
  if (flags.infer === true && !(await inferAndCreate(client, files, { entity, flags, csv }))) return
  const rejectsPath = flags.rejects ?? `${entity}-rejects.ndjson`
  const job = {
    url: client.base,
    entity,
    version,
    upsert,
    batch,
    delimiter: csv.delimiter,
    // where nothing is rejected, it may still be chosen
    rejects: onError === 'skip' ? resolve(rejectsPath) : undefined,
    files: files.map(({ path, format, bytes, modified }) => ({ path, format, bytes, modified })),
  }
  const state = openState(flags.resume, job, onError)
  using rejects = openRejects(
    rejectsPath,
    state.position.rejectsBytes,
    files.map(({ path }) => path),
  )
  const sender = { client, entity, version, upsert, isAtomic: onError === 'stop' }
  const done = await importAll(files, {
    state,
    rejects,
    sender,
    batch,
    csv,
    canResume: flags.resume !== undefined,
  })
  state.remove()
  report(done, { json, rejectsPath, isResumed: state.isResumed })
}

interface Importing {
  readonly state: ImportState
  readonly rejects: Rejects
  readonly sender: Sender
  readonly batch: number
  readonly csv: ReturnType<typeof delimiterFrom>
  readonly canResume: boolean
}

async function importAll(files: readonly SourceFile[], importing: Importing): Promise<Position & Timed> {
  const { state, canResume } = importing
  const progress = createProgress(process.stderr)
  const began = performance.now()
  const total = files.some(({ isReadOnce }) => isReadOnce)
    ? undefined
    : files.reduce((sum, { bytes }) => sum + bytes, 0)
  let position = state.position
  let bytes = files.slice(0, position.file).reduce((sum, each) => sum + each.bytes, 0)
  const show = (more: number, imported: number): void => {
    bytes += more
    const note = `${imported.toLocaleString('en')} documents`
    progress.show({
      phase: 'importing',
      done: Math.round(bytes / 1000),
      total: total === undefined ? total : Math.round(total / 1000),
      unit: 'kB',
      note,
    })
  }
  try {
    for (const [i, file] of files.entries()) {
      if (i < position.file) continue
      position = { ...position, file: i, records: i === position.file ? position.records : 0 }
      const advance = (next: Position): void => {
        state.advance(next)
        position = next
      }
      position = await importFile(file, position, { ...importing, state: { ...state, advance }, show })
    }
    return { ...position, seconds: Math.round(performance.now() - began) / 1000 }
  } catch (error) {
    progress.end()
    if (!(error instanceof Exit) || !canResume) throw error
    throw new Exit(
      error.code,
      `${error.message}\nthe same command goes on after ${position.imported} documents`,
    )
  } finally {
    progress.end()
  }
}

interface Timed {
  readonly seconds: number
}

async function importFile(
  file: SourceFile,
  begin: Position,
  {
    state,
    rejects,
    sender,
    batch,
    csv,
    show,
  }: Importing & { readonly show: (bytes: number, imported: number) => void },
): Promise<Position> {
  let position = begin
  try {
    const records = recordsOf(file, csv)
    const sizeOf = file.format === 'csv' ? jsonSize : ({ bytes }: SourceRecord): number => bytes
    const batches = batchesOf(records, {
      count: batch,
      bytes: BATCH_BYTES,
      sizeOf,
      skip: begin.records,
      // together with others it might be more than one request may hold
      isAlone: (record) => sizeOf(record) > BATCH_BYTES,
    })
    for await (const each of ahead(batches)) {
      const key = `${position.id}-${position.attempt}-${position.file}-${each.first}`
      const failures = await sendBatch(sender, each.records, key)
      if (sender.isAtomic && failures.length > 0) {
        state.advance({ ...position, attempt: position.attempt + 1, onError: undefined })
        throw stopped(file, failures)
      }
      for (const { record, errors } of failures) rejects.add(rejectFrom(file, record, errors))
      position = {
        ...position,
        records: each.first + each.records.length,
        imported: position.imported + each.records.length - failures.length,
        rejected: position.rejected + failures.length,
        rejectsBytes: rejects.bytes(),
      }
      state.advance(position)
      show(
        each.records.reduce((sum, { bytes }) => sum + bytes, 0),
        position.imported,
      )
    }
  } catch (error) {
    if (error instanceof RecordsError) throw new Exit(EXIT.failed, `${file.path}, ${error.message}`)
    if (error instanceof MissingRecordsError) throw new Exit(EXIT.failed, `${file.path}: ${error.message}`)
    const { code, message } = error as NodeJS.ErrnoException
    if (typeof code === 'string') throw new Exit(EXIT.failed, `${file.path} cannot be read: ${message}`)
    throw error
  }
  return position
}

/** A row of CSV is shorter than the JSON that is sent: that has the names, quotes, and characters that are escaped. */
function jsonSize(record: SourceRecord): number {
  return 'document' in record ? JSON.stringify(record.document).length : record.bytes
}

/** Reads the next batch while the service works on this one. */
async function* ahead<T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = source.next()
  try {
    for (;;) {
      const { done, value } = await next
      if (done === true) return
      next = source.next()
      // a failure is thrown when its turn comes
      next.catch(() => undefined)
      yield value
    }
  } finally {
    await next.catch(() => undefined)
    await source.return(undefined)
  }
}

function rejectFrom({ path }: SourceFile, record: SourceRecord, errors: readonly Json[]): Reject {
  return { file: path, line: record.line, ...('document' in record && { document: record.document }), errors }
}

const SHOWN = 5

function stopped({ path }: SourceFile, failures: readonly Failure[]): Exit {
  const lines = failures
    .slice(0, SHOWN)
    .map(({ record, errors }) => `  ${path}, line ${record.line}: ${errors.map(errorLine).join('; ')}`)
  const more = failures.length > SHOWN ? [`  and ${failures.length - SHOWN} more`] : []
  const head = 'the batch with these records was not stored; --on-error skip would leave them out:'
  return new Exit(EXIT.failed, [head, ...lines, ...more].join('\n'))
}

interface Reporting {
  readonly json: boolean
  readonly rejectsPath: string
  readonly isResumed: boolean
}

function report(
  { imported, rejected, seconds }: Position & Timed,
  { json, rejectsPath, isResumed }: Reporting,
): void {
  const rejects = rejected === 0 ? null : rejectsPath
  if (json) process.stdout.write(`${JSON.stringify({ imported, rejected, rejects, isResumed, seconds })}\n`)
  else {
    const end = rejects === null ? '' : `; ${rejected.toLocaleString('en')} rejected, see ${rejects}`
    const documents = `${imported.toLocaleString('en')} document${imported === 1 ? '' : 's'}`
    process.stdout.write(`imported ${documents} in ${seconds} s${end}\n`)
  }
  if (rejected > 0) process.exitCode = EXIT.warnings
}
