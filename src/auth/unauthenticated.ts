/** The one refusal of every mode: credentials that are missing or wrong. */
import { ServiceError } from '../base/errors.ts'

export function unauthenticated(problem: string): ServiceError {
  return new ServiceError('crud:Unauthenticated', problem)
}
