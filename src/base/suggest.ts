/** Suggests the known word that a misspelt one probably stands for. */

/** Longer words are not compared, because the cost of a comparison grows with both lengths. */
const MAX_COMPARED = 100

/** The nearest known word, if one is near enough. */
export function suggestion(word: string, known: readonly string[]): string | undefined {
  if (word.length > MAX_COMPARED) return undefined
  const ranked = known.map((each) => ({ each, distance: distance(word.toLowerCase(), each.toLowerCase()) }))
  const [best] = ranked.sort((a, b) => a.distance - b.distance)
  return best && best.distance <= tolerated(best.each) ? best.each : undefined
}

/** How many letters may differ: of a short word, two would be half of it. */
function tolerated({ length }: string): number {
  if (length <= 4) return 1
  return Math.max(2, length / 3)
}

/** Completes a message about an unknown word. */
export function didYouMean(word: string, known: readonly string[]): string {
  const nearest = suggestion(word, known)
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`
}

/** Edit distance: insertions, deletions, replacements; a transposition of two letters counts as one. */
function distance(a: string, b: string): number {
  let before: readonly number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      const isSwap = j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j]
      next.push(
        Math.min(
          next[j]! + 1,
          row[j + 1]! + 1,
          row[j]! + (a[i] === b[j] ? 0 : 1),
          isSwap ? before[j - 1]! + 1 : Infinity,
        ),
      )
    }
    before = row
    row = next
  }
  return row.at(-1)!
}
