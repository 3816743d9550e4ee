/** What is said when an answer is given up before it is there. */
import { ServiceError } from '../base/errors.ts'

export function timedOut(timeLimitMs: number): ServiceError {
  const message = `the query took longer than ${timeLimitMs} ms; an index, or a narrower query, would help`
  return new ServiceError('store-crud:Timeout', message)
}

/** Nobody reads this; it only ends the work. */
export function hungUp(): ServiceError {
  return new ServiceError('crud:Unavailable', 'the caller hung up')
}
