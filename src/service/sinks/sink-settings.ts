/** What whoever runs the service says of sinks: where events may be sent, and sinks that are there from the start. */
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isObject } from '../../base/json/json.ts'
import type { Shape } from '../../base/json/shape.ts'
import { type ReadingOptions, kindMembers, readDefinition, showDefinition } from '../../sinks/definition.ts'
import { KIND_NAMES, type SinkDefinition } from '../../sinks/kinds.ts'
import type { EventKeeping } from '../events/retention.ts'

export interface EventSettings extends EventKeeping {
  /** Whether events may go to this machine and to networks of somebody's own; not when absent. */
  readonly allowPrivateAddresses?: boolean
  /** Made or replaced at the start. */
  readonly sinks?: readonly PlacedSink[]
}

/** A sink, and the datasource whose events it is told; absent: that of its entity, else the default one. */
export interface PlacedSink {
  readonly definition: SinkDefinition
  readonly datasource?: string
}

export const SINK_KIND_NAMES: readonly string[] = KIND_NAMES

/** The members that only some kinds of sinks have. What is secret is `writeOnly`. */
export const SINK_KIND_MEMBERS: Readonly<Record<string, Shape>> = kindMembers(({ shape }) => shape)

/** Throws a ServiceError that says what is wrong, and never repeats a secret. */
export function readSink(body: Json | undefined, options: ReadingOptions): PlacedSink {
  const { datasource, ...rest } = isObject(body) ? body : ({} as JsonObject)
  if (datasource !== undefined && typeof datasource !== 'string') {
    throw new ServiceError('crud:InvalidRequest', '"datasource" must be a string', { at: '/datasource' })
  }
  const definition = readDefinition(isObject(body) ? rest : body, options)
  return { definition, ...(datasource !== undefined && { datasource }) }
}

/** All but the secret. */
export function showSink({ definition, datasource }: PlacedSink): JsonObject {
  return { ...showDefinition(definition), ...(datasource !== undefined && { datasource }) }
}
