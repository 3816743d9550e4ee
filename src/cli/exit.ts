/** How a command ends; scripts rely on these numbers. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  config: 3,
  unreachable: 4,
  denied: 5,
  conflict: 6,
  warnings: 7,
  interrupted: 130,
} as const

/** Ends the command with a message for a person and a number for a script. */
export class Exit extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}
