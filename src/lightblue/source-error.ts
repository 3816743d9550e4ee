/** The errors of reading from Lightblue: its files, its dumps and its REST interface. */

/** `broken`: the data is damaged or incomplete. `invalid`: it is not what the command expects. */
export type SourceReason = 'broken' | 'invalid' | 'unreachable' | 'denied' | 'failed'

export class SourceError extends Error {
  readonly reason: SourceReason

  constructor(reason: SourceReason, message: string, cause?: unknown) {
    super(message, { cause })
    this.reason = reason
  }
}

/** Thrown for one document that has no form in JSON; the other documents are not affected. */
export class ValueError extends Error {
  /** The path of the value in the document. */
  readonly path: string

  constructor(path: string, message: string) {
    super(message)
    this.path = path
  }
}
