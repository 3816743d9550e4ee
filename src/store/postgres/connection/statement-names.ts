/** Names for prepared statements: a shape that comes again is planned by the server once per connection. */
export interface StatementNames {
  /** The name to prepare a text under, or undefined when it is to be sent as it is. */
  nameOf(text: string): string | undefined
}

/**
 * Shapes seen once get no name. When there are too many, all are forgotten and those in use get new ones; what connections
 * keep of the old ones goes with the connections, which do not live for ever.
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
