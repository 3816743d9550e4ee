/** Sinks and their items as rows of text, for a move to another store. */

/** The columns that move, by table; delivery leases do not. */
export const SINK_TABLES = {
  smalt_sink: ['sink', 'definition', 'version', 'position', 'state', 'failures', 'retry_at'],
  smalt_sink_item: ['sink', 'seq', 'id', 'doc', 'state', 'attempts', 'next_at', 'error', 'at', 'event'],
} as const

export type SinkTable = keyof typeof SINK_TABLES

/** A row as text, in the order of its columns. */
export type ExportedSinkRow = readonly string[]

/** The values of the columns that do not move. */
export const SINK_DEFAULTS: { readonly [T in SinkTable]: Readonly<Record<string, string>> } = {
  smalt_sink: { owner: '', owned_until: '0' },
  smalt_sink_item: {},
}
