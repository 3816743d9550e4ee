/** What is wrong with the definition of a sink, and where; it never repeats what was given. */
import { ServiceError } from '../base/errors.ts'

export function refusal(message: string, at: string): ServiceError {
  return new ServiceError('crud:InvalidRequest', message, { at })
}
