/** A kind of sink is one record of this type; `kinds.ts` lists them. */
import type { JsonObject } from '../base/json/json.ts'
import type { Shape } from '../base/json/shape.ts'
import type { EventFilter } from '../store/events.ts'
import type { Transport } from './transport.ts'

/** The members that the definitions of all kinds have. */
export interface SinkCommon {
  readonly name: string
  readonly kind: string
  readonly url: string
  /** It sees what a caller with these would. */
  readonly roles: readonly string[]
  readonly filter: EventFilter
}

export interface SinkKind<D extends SinkCommon = SinkCommon> {
  readonly kind: D['kind']
  /** The members that only its definitions have. */
  readonly shape: Readonly<Record<string, SinkMember>>
  /** Reads its own members and checks the URL; their types have been checked. Throws a refusal. */
  read(body: JsonObject, options: ReadOptions<D>): Omit<D, keyof SinkCommon>
  /** Its own members as an answer shows them: secrets masked. */
  show(definition: D): JsonObject
  open(definition: D, options: NetworkOptions): Transport
}

export interface SinkMember {
  /** In a request and in the configuration. What is secret is `writeOnly`. */
  readonly shape: Shape
  /** In an answer. */
  readonly shown: Shape
  /** Completes a message about a wrong value: `"secret" must be a string`. */
  readonly expected: string
  /** Completes a message to other kinds: `only sinks of the kind "webhook" have a secret`. */
  readonly noun: string
}

export interface NetworkOptions {
  readonly allowPrivateAddresses: boolean
}

export interface ReadOptions<D extends SinkCommon> extends NetworkOptions {
  /** The definition to replace: secrets stay where none are given, because they cannot be read again. */
  readonly replaced?: D | undefined
}
