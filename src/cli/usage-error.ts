/**
 * An error in the use of the command line: the problem, a suggestion if a known word is near, and a pointer
 * to the help.
 */
import { EXIT, Exit } from './exit.ts'
import { suggestion } from '../base/suggest.ts'

interface Mistyped {
  readonly word: string
  readonly known: readonly string[]
}

export function usageError(problem: string, mistyped?: Mistyped): Exit {
  const near = mistyped && suggestion(mistyped.word, mistyped.known)
  const hint = near === undefined || near === mistyped?.word ? '' : `; did you mean ${MEANT[near] ?? near}?`
  return new Exit(EXIT.usage, `${problem}${hint}\nsmalt --help lists what there is.`)
}

/** Words that users may try as a command → the actual command. */
const MEANT: Readonly<Partial<Record<string, string>>> = { start: 'serve', schema: 'config schema' }

export const ALIASES: readonly string[] = Object.keys(MEANT)
