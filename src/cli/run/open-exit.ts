/** The exit of a command that cannot open or reach the store it works on. */
import { NoRoomError, ServiceError, messageForOperator } from '../../base/errors.ts'
import { maskLocation } from '../../base/location.ts'
import { OpenError } from '../../service/open/stores.ts'
import { EXIT, Exit, OPEN_EXITS } from '../exit.ts'

/** Returns other errors unchanged. `alternative` continues the advice to end the process that uses the store. */
export function openExit(error: unknown, location: string, alternative = ''): unknown {
  if (error instanceof ServiceError) {
    const isOutOfReach = error.code === 'crud:Unavailable' && !(error instanceof NoRoomError)
    return new Exit(isOutOfReach ? EXIT.unreachable : EXIT.failed, messageForOperator(error))
  }
  if (!(error instanceof OpenError)) return error
  if (error.reason === 'locked') {
    const problem = `the data in ${maskLocation(location)} are in use by another Smalt process; end it first`
    return new Exit(EXIT.conflict, `${problem}${alternative}`)
  }
  return new Exit(OPEN_EXITS[error.reason], error.message)
}
