/** Counts what became of the documents of a write, and makes the response of it. */
import { ServiceError } from '../../base/errors.ts'
import type { Json } from '../../base/json/json.ts'
import type { Outcome, StoredDocument } from '../../plan/plan.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Page, Shown } from '../read/page.ts'
import type { Range } from '../request/request.ts'
import { type DataError, type DataResponse, statusOf } from '../response.ts'

export interface Tally {
  /** `data` is the document as its sender knows it, for the case that it failed. */
  readonly add: (outcome: Outcome, data: Json) => void
  readonly respond: (isCommitted: boolean) => DataResponse
  /** Where a store begins again: nothing that was counted is sent. */
  readonly release: () => void
}

interface TallyOptions {
  readonly operation: string
  readonly schema: Schema
  readonly page: Page
  /** Chooses which of the documents that did not fail are shown; all are written. */
  readonly range: Range
}

export function createTally({ operation, schema, page, range }: TallyOptions): Tally {
  const { entity, version: entityVersion } = schema
  const context = `${operation}(${entity}:${entityVersion})`
  const entries: { readonly data: Json; readonly faults: readonly ServiceError[] }[] = []
  let modifiedCount = 0
  let shown = 0

  function show(document: StoredDocument): void {
    const isInRange = shown >= range.from && shown <= (range.to ?? Infinity)
    shown++
    if (isInRange) page.take(document)
  }

  return {
    release: page.release,
    add(outcome, data) {
      entries.push({ data, faults: faultsOf(outcome) })
      if (outcome.kind === 'inserted' || outcome.kind === 'updated' || outcome.kind === 'kept')
        show(outcome.document)
      if (outcome.kind === 'inserted' || outcome.kind === 'updated' || outcome.kind === 'deleted')
        modifiedCount++
    },
    respond(isCommitted) {
      const told = isCommitted ? entries : entries.map(takenBack)
      const dataErrors = told
        .filter(({ faults }) => faults.length > 0)
        .map(({ data, faults }): DataError => ({
          data,
          errors: faults.map((fault) => fault.toObject(context)),
        }))
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

const NOTHING_SHOWN: Shown = { processed: [], resultMetadata: [] }

/** In an atomic request the failure of one document is the failure of all. */
function takenBack<T extends { readonly faults: readonly ServiceError[] }>(entry: T): T {
  if (entry.faults.length > 0) return entry
  const fault = new ServiceError(
    'crud:Rolledback',
    'taken back because another document of the request failed',
  )
  return { ...entry, faults: [fault] }
}

function faultsOf(outcome: Outcome): readonly ServiceError[] {
  if (outcome.kind === 'refused') return outcome.faults
  if (outcome.kind !== 'duplicate') return []
  return [
    new ServiceError(
      'store-crud:Duplicate',
      'another document has this identity or one of these unique values',
    ),
  ]
}
