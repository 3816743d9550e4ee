/** Checks a document member by member, so that the message names the one that is wrong and what it must be. */
import type { Refuse } from './decode.ts'
import { type JsonObject, pointer } from './json.ts'
import { type Shape, compileShape } from './shape.ts'

interface Messages {
  readonly refuse: Refuse
  /** For a member that no shape describes. */
  readonly unknown: (name: string) => string
  /** Completes a message about a wrong member: `"roles" must be an array of strings`. */
  readonly expected: Readonly<Record<string, string>>
  /** For the members that `expected` does not name. */
  readonly otherwise: string
}

/** Whether members are missing is for the caller to check. */
export function memberChecker(
  shapes: Readonly<Record<string, Shape>>,
  { refuse, unknown, expected, otherwise }: Messages,
): (document: JsonObject) => void {
  const checks = new Map(Object.entries(shapes).map(([name, shape]) => [name, compileShape(shape)]))
  return (document) => {
    for (const [name, value] of Object.entries(document)) {
      const check = checks.get(name)
      if (!check) throw refuse(unknown(name), pointer('', name))
      if (!check(value)) throw refuse(`"${name}" ${expected[name] ?? otherwise}`, pointer('', name))
    }
  }
}
