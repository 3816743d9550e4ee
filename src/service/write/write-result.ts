/** Counts the outcomes of a write and makes its response. */
import { ServiceError } from '../../base/errors.ts'
import type { Outcome, StoredDocument } from '../../plan/plan.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Page, Shown } from '../read/page.ts'
import type { DuplicateFault } from './duplicates.ts'
import type { Range } from '../request/envelope.ts'
import { type DataError, type DataResponse, type JsonText, statusOf } from '../response.ts'

export interface Tally {
  /**
   * `data` renders the document as its sender sees it, in case it failed. Throws if the response would become
   * too large, so that nothing is written. `position` is that of the document in the request; documents are added in
   * this order when it is absent.
   */
  readonly add: (outcome: Outcome, data: () => JsonText, position?: number) => void
  readonly respond: (isCommitted: boolean) => DataResponse
  /** Called before a store retries the write: nothing that was counted is sent. */
  readonly release: () => void
}

interface TallyOptions {
  readonly operation: string
  readonly schema: Schema
  readonly page: Page
  /** Selects which of the documents that did not fail are returned; all are written. */
  readonly range: Range
  /** Absent in operations that cannot repeat a value. */
  readonly duplicateFault?: DuplicateFault
  /** Whether failures have the position of their document in its place: a large one would be repeated in the response. */
  readonly positions?: boolean
}

export function createTally(options: TallyOptions): Tally {
  const { operation, schema, page, range, duplicateFault, positions = false } = options
  const { entity, version: entityVersion } = schema
  const context = `${operation}(${entity}:${entityVersion})`
  const entries: Entry[] = []
  const failures: DataError[] = []
  let modifiedCount = 0
  let shown = 0

  function show(document: StoredDocument): void {
    const isInRange = shown >= range.from && shown <= (range.to ?? Infinity)
    shown++
    if (isInRange) page.take(document)
  }

  function addFailure({ data, faults, position }: Entry): DataError {
    return page.addFailure(() => ({
      ...(positions ? { position } : { data: data() }),
      errors: faults.map((fault) => fault.toObject(context)),
    }))
  }

  return {
    release: page.release,
    add(outcome, data, position = entries.length) {
      const entry = { data, position, faults: faultsOf(outcome, duplicateFault) }
      entries.push(entry)
      if (entry.faults.length > 0) failures.push(addFailure(entry))
      if (outcome.kind === 'inserted' || outcome.kind === 'updated' || outcome.kind === 'kept')
        show(outcome.document)
      if (outcome.kind === 'inserted' || outcome.kind === 'updated' || outcome.kind === 'deleted')
        modifiedCount++
    },
    respond(isCommitted) {
      // The bytes counted for returned documents are released, because all documents are reported as failed
      // instead.
      if (!isCommitted) page.release()
      const dataErrors = isCommitted ? failures : entries.map((entry) => addFailure(takenBack(entry)))
      const { processed, resultMetadata } = isCommitted ? page.shown : NOTHING_SHOWN
      return {
        entity,
        entityVersion,
        status: statusOf(entries.length, dataErrors.length),
        modifiedCount: isCommitted ? modifiedCount : 0,
        matchCount: 0,
        processed,
        resultMetadata,
        dataErrors,
      }
    },
  }
}

interface Entry {
  readonly data: () => JsonText
  readonly position: number
  readonly faults: readonly ServiceError[]
}

const NOTHING_SHOWN: Shown = { processed: [], resultMetadata: [] }

/** In an atomic request, the failure of one document is the failure of all. */
function takenBack(entry: Entry): Entry {
  if (entry.faults.length > 0) return entry
  const fault = new ServiceError(
    'crud:Rolledback',
    'rolled back because another document of the request failed',
  )
  return { ...entry, faults: [fault] }
}

function faultsOf(outcome: Outcome, duplicateFault: DuplicateFault | undefined): readonly ServiceError[] {
  if (outcome.kind === 'refused') return outcome.faults
  return outcome.kind === 'duplicate' ? [duplicateFault!(outcome.fields)] : []
}
