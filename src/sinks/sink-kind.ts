/** A kind of sink is one record of this type; `kinds.ts` lists them. */
import type { JsonObject } from '../base/json/json.ts'
import type { Shape } from '../base/json/shape.ts'
import type { EventFilter } from '../store/events.ts'
import type { Transport } from './transport.ts'

/** Members of the definitions of all kinds. */
export interface SinkCommon {
  readonly name: string
  readonly kind: string
  readonly url: string
  /** The sink has the visibility of a caller with these roles. */
  readonly roles: readonly string[]
  readonly filter: EventFilter
}

export interface SinkKind<D extends SinkCommon = SinkCommon> {
  readonly kind: D['kind']
  /** The members that only definitions of this kind have. */
  readonly shape: Readonly<Record<string, SinkMember>>
  /**
   * Reads the members of this kind and checks the URL; member types are already checked. Throws a refusal.
   */
  read(body: JsonObject, options: ReadOptions<D>): Omit<D, keyof SinkCommon>
  /** The members of this kind as a response shows them: secrets masked. */
  show(definition: D): JsonObject
  open(definition: D, options: NetworkOptions): Transport
}

export interface SinkMember {
  /** In a request and in the configuration. Secrets are `writeOnly`. */
  readonly shape: Shape
  /** In a response. */
  readonly shown: Shape
  /** Completes a message about a wrong value: `"secret" must be a string`. */
  readonly expected: string
  /** Completes a message about other kinds: `only sinks of the kind "webhook" have a secret`. */
  readonly noun: string
}

export interface NetworkOptions {
  readonly allowPrivateAddresses: boolean
}

export interface ReadOptions<D extends SinkCommon> extends NetworkOptions {
  /**
   * The definition to replace: its secrets stay unless new ones are given, because clients cannot read them
   * back.
   */
  readonly replaced?: D | undefined
}
