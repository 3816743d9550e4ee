/** All kinds of sinks. A new kind is a record in a file of its own and a line here. */
import { nats } from './nats/nats-kind.ts'
import type { SinkKind } from './sink-kind.ts'
import { webhook } from './webhook-kind.ts'

/** The first is the default. */
const KINDS = [webhook, nats] as const

type DefinitionOf<K> = K extends SinkKind<infer D> ? D : never

export type SinkDefinition = DefinitionOf<(typeof KINDS)[number]>
export type SinkKindName = SinkDefinition['kind']

export const SINK_KINDS: readonly SinkKind[] = KINDS
export const KIND_NAMES: readonly SinkKindName[] = KINDS.map(({ kind }) => kind)
export const DEFAULT_KIND: SinkKindName = KINDS[0].kind

/** Undefined for a kind that only a later version of Smalt supports. */
export function sinkKind(name: string): SinkKind | undefined {
  return SINK_KINDS.find(({ kind }) => kind === name)
}
