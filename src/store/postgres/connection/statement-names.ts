/** Names for prepared statements: the server plans a text that is used again once per connection. */
export interface StatementNames {
  /** The name under which to prepare a text; undefined for one that is sent unprepared. */
  nameOf(text: string): string | undefined
}

/**
 * A text gets its name at the second use. At capacity all names are dropped, and texts in use get new ones.
 * Statements prepared under old names are freed with their connections, whose lifetime is limited.
 */
export function createStatementNames(capacity = 500): StatementNames {
  const names = new Map<string, string>()
  const seenOnce = new Set<string>()
  let given = 0
  return {
    nameOf(text) {
      const known = names.get(text)
      if (known !== undefined) return known
      if (!seenOnce.delete(text)) {
        if (seenOnce.size >= capacity) seenOnce.clear()
        seenOnce.add(text)
        return undefined
      }
      if (names.size >= capacity) names.clear()
      const name = `smalt_${given++}`
      names.set(text, name)
      return name
    },
  }
}
