/** The errors of a move. */
import { NoRoomError, ServiceError } from '../../base/errors.ts'
import { type Obstacle, IncompleteImportError, UnfitError } from '../../store/transfer.ts'

export type MoveReason = 'location' | 'unreachable' | 'conflict' | 'interrupted' | 'failed'

export class MoveError extends Error {
  readonly reason: MoveReason

  constructor(reason: MoveReason, message: string, cause?: unknown) {
    super(message, { cause })
    this.reason = reason
  }
}

/** `shown` is the location of the target with its secrets masked. */
export function inTheWay(obstacle: Obstacle, shown: string): MoveError {
  return new MoveError('conflict', MESSAGES[obstacle](shown))
}

const MESSAGES: Readonly<Record<Obstacle, (shown: string) => string>> = {
  filled: (shown) =>
    `${shown} is not empty: it takes a store that was never used, not even by a service that was only started on it`,
  unfinished: (shown) =>
    `${shown} holds a part of a move that has not finished; --restart takes that part away and begins again`,
  busy: (shown) => `another move into ${shown} is under way`,
}

/**
 * Turns expected errors into a MoveError, with its own reason for an unreachable store; returns other errors
 * unchanged.
 */
export function asForeseen(error: unknown): unknown {
  if (error instanceof UnfitError || error instanceof IncompleteImportError) {
    return new MoveError('failed', error.message, error)
  }
  // such as an error of the disk, or a quota that is used up
  if ((error as NodeJS.ErrnoException).code === 'ERR_SQLITE_ERROR')
    return new MoveError('failed', `SQLite reports: ${messageOf(error)}`, error)
  if (!(error instanceof ServiceError)) return error
  if (error.code !== 'crud:Unavailable' || error instanceof NoRoomError)
    return new MoveError('failed', error.message, error)
  return new MoveError('unreachable', `${error.message}${beneath(error)}`, error)
}

/** The innermost cause. The operator of a move may see it, for example a certificate that is not trusted. */
export function beneath(error: unknown): string {
  let deepest = error
  while (deepest instanceof Error && deepest.cause instanceof Error) deepest = deepest.cause
  return deepest === error || messageOf(deepest) === '' ? '' : ` (${messageOf(deepest)})`
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
