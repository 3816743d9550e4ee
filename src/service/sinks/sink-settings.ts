/** The operator's configuration of sinks: which addresses are allowed, and the sinks that exist from the start. */
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isObject } from '../../base/json/json.ts'
import type { Shape } from '../../base/json/shape.ts'
import { type ReadingOptions, kindMembers, readDefinition, showDefinition } from '../../sinks/definition.ts'
import { KIND_NAMES, type SinkDefinition } from '../../sinks/kinds.ts'
import type { EventKeeping } from '../events/retention.ts'

export interface EventSettings extends EventKeeping {
  /** Whether loopback and private addresses are allowed; false if absent. */
  readonly allowPrivateAddresses?: boolean
  /** Created or replaced at the start. */
  readonly sinks?: readonly PlacedSink[]
}

/** A sink with the datasource whose events it receives; absent: that of its entity, otherwise the default one. */
export interface PlacedSink {
  readonly definition: SinkDefinition
  readonly datasource?: string
}

export const SINK_KIND_NAMES: readonly string[] = KIND_NAMES

/** The members that only some kinds of sinks have. Secrets are `writeOnly`. */
export const SINK_KIND_MEMBERS: Readonly<Record<string, Shape>> = kindMembers(({ shape }) => shape)

/** Throws a ServiceError that describes the problem and never repeats a secret. */
export function readSink(body: Json | undefined, options: ReadingOptions): PlacedSink {
  const { datasource, ...rest } = isObject(body) ? body : ({} as JsonObject)
  if (datasource !== undefined && typeof datasource !== 'string') {
    throw new ServiceError('crud:InvalidRequest', '"datasource" must be a string', { at: '/datasource' })
  }
  const definition = readDefinition(isObject(body) ? rest : body, options)
  return { definition, ...(datasource !== undefined && { datasource }) }
}

/** Everything except the secret. */
export function showSink({ definition, datasource }: PlacedSink): JsonObject {
  return { ...showDefinition(definition), ...(datasource !== undefined && { datasource }) }
}
