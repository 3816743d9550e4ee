/** Memory limits of a request, and the errors for exceeding them, each with advice for the caller. */
import { ServiceError } from '../base/errors.ts'
import { MAX_GROUPS } from '../lang/aggregate.ts'
import type { PlannedJoin } from '../plan/joins.ts'
import type { Schema } from '../schema/schema.ts'
import type { Held } from './read/read-context.ts'

type Shown = Pick<PlannedJoin, 'plan'>

/** Limit for all documents that one reference embeds in one document. */
export const MAX_SHOWN_BYTES = 16 * 1024 * 1024
/** Limit for the documents of one entity that are read to evaluate or embed references. */
export const MAX_DOCUMENTS = 100_000

export function tooManyToHold({ entity }: Schema): ServiceError {
  const message =
    `more than ${MAX_DOCUMENTS} documents of ${entity} would have to be held to answer this; ask for fewer of ` +
    'them, or keep both entities in one datasource'
  return new ServiceError('crud:LimitExceeded', message)
}

export function tooLargeToHold({ entity }: Schema, { maxBytes }: Held): ServiceError {
  const message =
    `documents of ${entity} of more than ${maxBytes} bytes would have to be held to answer this; ask for fewer of ` +
    'them, or keep both entities in one datasource'
  return new ServiceError('crud:LimitExceeded', message)
}

/** The service sorts documents itself where the store cannot. */
export function tooManyToSort({ entity }: Schema): ServiceError {
  const message =
    `more than ${MAX_DOCUMENTS} documents of ${entity} would have to be held to sort them by a reference; narrow the ` +
    'query, or sort by fields of the document'
  return new ServiceError('crud:LimitExceeded', message)
}

export function tooManyGroups(): ServiceError {
  const message = `there are more than ${MAX_GROUPS} groups; ask for a range of them, or group by something coarser`
  return new ServiceError('crud:LimitExceeded', message)
}

/** The groups of an aggregate need too much memory. */
export function groupsTooLarge({ maxBytes }: Held): ServiceError {
  const message = `the groups need more than ${maxBytes} bytes; group by something coarser, or narrow the query`
  return new ServiceError('crud:LimitExceeded', message)
}

/** One reference embeds too much in one document. */
export function tooLarge(join: Shown): ServiceError {
  const message = `"${nameOf(join)}" joins more than can be shown of one document; ask for its documents by themselves`
  return new ServiceError('crud:ResultSizeTooLarge', message)
}

/** One reference embeds too much in all documents of the result together. */
export function tooLargeTogether(join: Shown, { maxBytes }: Held): ServiceError {
  const message =
    `what "${nameOf(join)}" joins to these documents is larger than ${maxBytes} bytes; ask for a smaller range, or ` +
    `leave "${nameOf(join)}" out of the projection`
  return new ServiceError('crud:ResultSizeTooLarge', message)
}

/** The whole result is too large. */
export function tooLargeResult(maxBytes: number, joins: readonly Shown[] = []): ServiceError {
  const names = joins.map((join) => `"${nameOf(join)}"`).join(', ')
  const message =
    joins.length === 0
      ? `the result is larger than ${maxBytes} bytes; ask for a range, or for fewer fields`
      : `the result is larger than ${maxBytes} bytes, with all that ${names} joins; ask for a smaller range, or for ` +
        'fewer fields of what is joined'
  return new ServiceError('crud:ResultSizeTooLarge', message)
}

/** The result of a write, including the documents that failed, is too large. */
export function tooLargeFailures(maxBytes: number): ServiceError {
  const message =
    `the result, with the documents that failed, is larger than ${maxBytes} bytes, so nothing was written; write ` +
    'fewer documents at a time, or ask for fewer fields'
  return new ServiceError('crud:ResultSizeTooLarge', message)
}

function nameOf({ plan }: Shown): string {
  return String(plan.steps.at(-1))
}
