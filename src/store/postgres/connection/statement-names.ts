/** Names for prepared statements: the server plans a text that is used again once per connection. */

export interface StatementNames {
  /** The name under which to prepare a text; undefined for one that is sent unprepared. */
  nameOf(text: string): string | undefined
}

/** Longer texts are rare, and what the server keeps of one is a hundred times as long. */
const MAX_LENGTH = 16 * 1024

/**
 * A text gets its name at the second use. At capacity the oldest name is dropped, and a text in use gets a new one.
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
      if (known !== undefined) return known
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
  /** Makes room for a statement, which is prepared next: `close` is called for the oldest ones until it fits. */
  take(name: string, length: number, close: Close): void
}

/** Returns false for a statement that cannot be closed yet. Then it stays, and those after it. */
type Close = (name: string) => boolean

const MAX_STATEMENTS = 500
const MAX_CHARACTERS = 128 * 1024

export function createPreparedRoom(): PreparedRoom {
  /** In the order of preparation: to keep the order of use would cost every statement something. */
  const lengths = new Map<string, number>()
  let characters = 0
  const forget = (name: string): void => {
    characters -= lengths.get(name) ?? 0
    lengths.delete(name)
  }
  return {
    take(name, length, close) {
      // It failed the last time, or was closed.
      forget(name)
      for (const oldest of lengths.keys()) {
        if (lengths.size < MAX_STATEMENTS && characters + length <= MAX_CHARACTERS) break
        if (!close(oldest)) break
        forget(oldest)
      }
      lengths.set(name, length)
      characters += length
    },
  }
}
