/** Every text of SQL that the stores of this process send, as they send it. */
import pg from 'pg'

/** A text as a connection was given it; the order of texts is only known within one connection. */
export interface Recorded {
  readonly connection: number
  readonly text: string
}

/** From here on every text that a store of this process sends is kept. */
export function recordStatements(): readonly Recorded[] {
  const recorded: Recorded[] = []
  const connections = new WeakMap<object, number>()
  let count = 0
  const prototype = pg.Client.prototype as unknown as { query: (...given: unknown[]) => unknown }
  const query = prototype.query
  prototype.query = function (this: Sender, ...given) {
    const text = typeof given[0] === 'string' ? given[0] : (given[0] as { readonly text: string }).text
    const connection = connections.get(this) ?? count++
    connections.set(this, connection)
    // tests also connect for purposes of their own
    if (this.connectionParameters.application_name === 'smalt') recorded.push({ connection, text })
    return query.apply(this, given)
  }
  return recorded
}

interface Sender {
  readonly connectionParameters: { readonly application_name?: string }
}
