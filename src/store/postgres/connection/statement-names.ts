/** Prepared statements: their names, and which of them stay prepared on a connection. */
import { SizedCache } from '../../../base/sized-cache.ts'

export interface StatementNames {
  /** The name under which to prepare a text; undefined for one that is sent unprepared. */
  nameOf(text: string): string | undefined
}

/** Longer texts are rare, and the server keeps about a hundred bytes for each of their characters. */
const MAX_LENGTH = 16 * 1024

/**
 * The server parses and plans a named text once per connection, so a text gets a name at its second use. At capacity the
 * least recently used name is dropped; its statement is closed on each connection when new ones need the room.
 */
export function createStatementNames(capacity = 500): StatementNames {
  const names = new SizedCache<string, string>(capacity)
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
      const name = `smalt_${given++}`
      names.set(text, name, 1)
      return name
    },
  }
}

/** The statements that are prepared on one connection. Callers decide how many there are, so the server's memory needs a bound. */
interface PreparedRoom {
  /** Whether a statement is prepared, or was sent to be; it counts as used now. */
  use(name: string): boolean
  /** Makes room for a statement that is prepared next: `close` is called for the least recently used ones until it fits. */
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
