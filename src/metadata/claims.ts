/** The claims of callers that row rules refer to: what a caller may see depends on no others. */
import { memoized } from '../base/memo.ts'
import type { Catalogue, Entity } from './catalogue.ts'

const PLACEHOLDER = '"$caller.claims.'

/** Paths such as `org.unit`, sorted. */
export const claimsInRules = memoized(({ entities }: Catalogue): readonly string[] => {
  const found = new Set<string>()
  for (const entity of entities.values()) for (const path of claimsOf(entity)) found.add(path)
  return [...found].sort()
})

/** Entities are reused while their records do not change, so only those that did are searched again. */
const claimsOf = memoized(({ versions }: Entity): ReadonlySet<string> => {
  const found = new Set<string>()
  for (const { text } of versions.values()) for (const path of placeholdersIn(text)) found.add(path)
  return found
})

/**
 * Searches the stored text, which is much faster than parsing it. Stored texts are printed by us, so a placeholder is
 * always spelled the same. A text that only looks like one does no harm: the claim then counts without need. The search
 * continues after each one, so that its time is linear in the length of the text.
 */
function* placeholdersIn(text: string): Generator<string> {
  const literal = new RegExp(STRING, 'y')
  for (let at = text.indexOf(PLACEHOLDER); at >= 0; at = text.indexOf(PLACEHOLDER, literal.lastIndex)) {
    literal.lastIndex = at
    const [found] = literal.exec(text)!
    yield (JSON.parse(found) as string).slice(PLACEHOLDER.length - 1)
  }
}

const STRING = /"(?:[^"\\]|\\.)*"/
