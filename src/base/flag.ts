/** Reads parameters of a request that are either true or false. */
import { ServiceError } from './errors.ts'

/** Undefined for an absent parameter. Other texts than these are refused: to ignore one would hide a mistake. */
export function flagFrom(name: string, text: string | null | undefined): boolean | undefined {
  switch (text) {
    case null:
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
