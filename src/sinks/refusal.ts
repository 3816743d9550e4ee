/**
 * The error for an invalid sink definition, with the JSON pointer of the problem. The message never contains
 * the given value, which may be secret.
 */
import { refuseWith } from '../base/json/decode.ts'

export const refusal = refuseWith('crud:InvalidRequest')
