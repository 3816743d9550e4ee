/** Why a move did not happen. */
import { ServiceError } from '../../base/errors.ts'
import { type Obstacle, IncompleteImportError, UnfitError } from '../../store/transfer.ts'

export type MoveReason = 'location' | 'unreachable' | 'conflict' | 'interrupted' | 'failed'

export class MoveError extends Error {
  readonly reason: MoveReason

  constructor(reason: MoveReason, message: string, cause?: unknown) {
    super(message, { cause })
    this.reason = reason
  }
}

/** `shown` is the target as people may see it. */
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

/** What is written for people, told apart by whether a store went away; anything unforeseen stays as it is. */
export function asForeseen(error: unknown): unknown {
  if (error instanceof UnfitError || error instanceof IncompleteImportError) {
    return new MoveError('failed', error.message, error)
  }
  if (!(error instanceof ServiceError)) return error
  if (error.code !== 'crud:Unavailable') return new MoveError('failed', error.message, error)
  return new MoveError('unreachable', `${error.message}${beneath(error)}`, error)
}

/** Whoever moves data may know what kept them from it, such as a certificate that is not believed. */
export function beneath(error: unknown): string {
  let deepest = error
  while (deepest instanceof Error && deepest.cause instanceof Error) deepest = deepest.cause
  return deepest === error || messageOf(deepest) === '' ? '' : ` (${messageOf(deepest)})`
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
