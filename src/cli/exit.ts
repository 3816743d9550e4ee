import type { OpenError } from '../service/open/stores.ts'

/** Exit codes; scripts rely on them. */
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

/** Texts for the help. */
export const EXIT_MEANINGS: readonly (readonly [code: number, meaning: string])[] = [
  [EXIT.ok, 'ok'],
  [EXIT.failed, 'failed'],
  [EXIT.usage, 'usage'],
  [EXIT.config, 'configuration'],
  [EXIT.unreachable, 'store or service unreachable'],
  [EXIT.denied, 'access denied'],
  [EXIT.conflict, 'conflict (data or port in use, target of a move or restore not empty)'],
  [EXIT.warnings, 'lint has warnings, an import rejected documents, or metadata differ'],
  [EXIT.interrupted, 'interrupted'],
]

/** By why stores cannot be opened. */
export const OPEN_EXITS: Readonly<Record<OpenError['reason'], number>> = {
  location: EXIT.config,
  locked: EXIT.conflict,
  'no room': EXIT.failed,
  failed: EXIT.unreachable,
}

/** Ends the command with a message for people and an exit code for scripts. */
export class Exit extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}
