/** Those to whom events are pushed, and what each has yet to get, as rows of text for a move to another store. */

/** The columns that move, by table; whose turn it is to deliver stays behind. */
export const SINK_TABLES = {
  smalt_sink: ['sink', 'definition', 'version', 'position', 'state', 'failures', 'retry_at'],
  smalt_sink_item: ['sink', 'seq', 'id', 'doc', 'state', 'attempts', 'next_at', 'error', 'at', 'event'],
} as const

export type SinkTable = keyof typeof SINK_TABLES

/** In the order of their keys. */
export type ExportedSinks = { readonly [T in SinkTable]: readonly (readonly string[])[] }

/** What the other columns of a new row are. */
export const SINK_DEFAULTS: { readonly [T in SinkTable]: Readonly<Record<string, string>> } = {
  smalt_sink: { owner: '', owned_until: '0' },
  smalt_sink_item: {},
}

export const SINK_KEYS: { readonly [T in SinkTable]: string } = {
  smalt_sink: 'sink',
  smalt_sink_item: 'sink, seq',
}
