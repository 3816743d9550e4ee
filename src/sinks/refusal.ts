/** The error for a problem in the definition of a sink, and its place; it never repeats the given value. */
import { refuseWith } from '../base/json/decode.ts'

export const refusal = refuseWith('crud:InvalidRequest')
