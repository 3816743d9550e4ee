/** The error of all modes for missing or wrong credentials. */
import { ServiceError } from '../base/errors.ts'

export function unauthenticated(problem: string): ServiceError {
  return new ServiceError('crud:Unauthenticated', problem)
}
