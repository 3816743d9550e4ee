/**
 * An error in the use of the command line: the problem, and a suggestion if a known word is near. The command line adds
 * a pointer to the help of the command.
 */
import { EXIT, Exit } from './exit.ts'
import { suggestion } from '../base/suggest.ts'

interface Mistyped {
  readonly word: string
  readonly known: readonly string[]
}

export class UsageError extends Exit {
  constructor(message: string) {
    super(EXIT.usage, message)
  }
}

export function usageError(problem: string, mistyped?: Mistyped): UsageError {
  const near = mistyped && suggestion(mistyped.word, mistyped.known)
  const hint = near === undefined || near === mistyped?.word ? '' : `; did you mean ${MEANT[near] ?? near}?`
  return new UsageError(`${problem}${hint}`)
}

/** Words that users may try as a command → the actual command. */
const MEANT: Readonly<Partial<Record<string, string>>> = { start: 'serve', schema: 'config schema' }

export const ALIASES: readonly string[] = Object.keys(MEANT)
