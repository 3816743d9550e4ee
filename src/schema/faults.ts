/** Collects the faults of documents, up to the number that is reported. */
import { ServiceError } from '../base/errors.ts'
import type { Limits } from '../base/limits.ts'

/** How many faults may be reported: for one document, and for all further documents of a request. */
export interface FaultBudget {
  readonly perDocument: number
  left: number
}

export interface Faults {
  readonly max: number
  readonly reported: ServiceError[]
  /** There are more faults than can be reported, so checking can stop. */
  isFull: boolean
}

/** The budget covers all faults of this many documents of a request; every further document has one entry. */
const DETAILED_DOCUMENTS = 100

export function faultBudget({ faults }: Pick<Limits, 'faults'>): FaultBudget {
  return { perDocument: faults, left: faults * DETAILED_DOCUMENTS }
}

export function startFaults({ perDocument, left }: FaultBudget, reported: ServiceError[] = []): Faults {
  return { max: Math.max(1, Math.min(perDocument, left)), reported, isFull: false }
}

export function addFault(faults: Faults, fault: ServiceError): void {
  const { reported, max } = faults
  if (faults.isFull) return
  if (reported.length < max) reported.push(fault)
  else {
    faults.isFull = true
    reported[max - 1] = tooMany(max)
    reported.length = max
  }
}

function tooMany(max: number): ServiceError {
  const message =
    max === 1
      ? 'the document has several faults; send it without the other documents to see each of them'
      : `the document has more faults than these ${max - 1}; correct them and send it again`
  return new ServiceError('crud:LimitExceeded', message)
}
