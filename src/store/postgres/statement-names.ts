/** Names for prepared statements: a shape that comes again is planned by the server once per connection. */
export interface StatementNames {
  /** The name to prepare a text under, or undefined when it is to be sent as it is. */
  nameOf(text: string): string | undefined
}

/** Each connection keeps what it has prepared, so the number of names is bounded; shapes seen once get none. */
export function createStatementNames(capacity = 500): StatementNames {
  const names = new Map<string, string>()
  const seenOnce = new Set<string>()
  return {
    nameOf(text) {
      const known = names.get(text)
      if (known !== undefined) return known
      if (names.size >= capacity) return undefined
      if (!seenOnce.delete(text)) {
        if (seenOnce.size >= capacity) seenOnce.clear()
        seenOnce.add(text)
        return undefined
      }
      const name = `smalt_${names.size}`
      names.set(text, name)
      return name
    },
  }
}
