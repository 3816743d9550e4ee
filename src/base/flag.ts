/** Reads parameters of a request that are either true or false. */
import { ServiceError } from './errors.ts'

/** Undefined stands for an absent parameter. Anything else than these texts would be a mistake that goes unnoticed. */
export function flagFrom(name: string, text: string | undefined): boolean | undefined {
  switch (text) {
    case undefined:
      return undefined
    case 'true':
    case '1':
      return true
    case 'false':
    case '0':
      return false
    default:
      throw new ServiceError('crud:InvalidRequest', `"${name}" must be true or false, or 1 or 0`)
  }
}
