/** Names for prepared statements: the server plans a text that is used again once per connection. */

export interface StatementNames {
  /** The name under which to prepare a text; undefined for one that is sent unprepared. */
  nameOf(text: string): string | undefined
}

/** Longer texts are rare, and what the server keeps of one is a hundred times as long. */
const MAX_LENGTH = 16 * 1024

/**
 * A text gets its name at the second use. At capacity the name that was not used for longest is dropped.
 * Statements prepared under old names are closed on each connection as new ones need their place.
 */
export function createStatementNames(capacity = 500): StatementNames {
  const names = new Map<string, string>()
  const seenOnce = new Set<string>()
  let given = 0
  return {
    nameOf(text) {
      if (text.length > MAX_LENGTH) return undefined
      const known = names.get(text)
      if (known !== undefined) {
        names.delete(text)
        names.set(text, known)
        return known
      }
      if (!seenOnce.delete(text)) {
        if (seenOnce.size >= capacity) seenOnce.clear()
        seenOnce.add(text)
        return undefined
      }
      if (names.size >= capacity) names.delete(names.keys().next().value!)
      const name = `smalt_${given++}`
      names.set(text, name)
      return name
    },
  }
}

/**
 * What stays prepared on one connection. Callers decide how many statements there are, and the server keeps about a hundred
 * bytes for each character of one, so without a bound they could fill its memory.
 */
export interface PreparedRoom {
  /** Whether a statement is prepared, or was sent to be; it counts as used now. */
  use(name: string): boolean
  /** Makes room for a statement, which is prepared next: `close` is called for those not used for longest until it fits. */
  take(name: string, length: number, close: (name: string) => void): void
  /** The statement that was sent to be prepared has been answered. */
  answered(name: string, isPrepared: boolean): void
}

const MAX_STATEMENTS = 500
const MAX_CHARACTERS = 256 * 1024

export function createPreparedRoom(): PreparedRoom {
  /** In the order of use. */
  const statements = new Map<string, { readonly length: number; isAnswered: boolean }>()
  let characters = 0
  const remove = (name: string): void => {
    characters -= statements.get(name)?.length ?? 0
    statements.delete(name)
  }
  return {
    use(name) {
      const used = statements.get(name)
      if (!used) return false
      statements.delete(name)
      statements.set(name, used)
      return true
    },
    take(name, length, close) {
      for (const [oldest, { isAnswered }] of statements) {
        if (statements.size < MAX_STATEMENTS && characters + length <= MAX_CHARACTERS) break
        // With its answer the driver would record it as prepared after it was closed.
        if (!isAnswered) continue
        close(oldest)
        remove(oldest)
      }
      statements.set(name, { length, isAnswered: false })
      characters += length
    },
    answered(name, isPrepared) {
      if (isPrepared) statements.get(name)!.isAnswered = true
      else remove(name)
    },
  }
}
