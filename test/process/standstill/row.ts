/** What a row of the table of attacks is: what is there before, what is sent, and what must come of it. */
import type { JsonObject } from '../../../src/base/json/json.ts'
import type { StoreKind } from '../../../src/store/store.ts'
import type { Outcome } from './client.ts'
import type { Expected, Observation } from './observe.ts'
import type { WatchedOptions, WatchedService } from './service.ts'

export interface Row {
  /** The number in the table, and a letter where a row has several forms. */
  readonly id: string
  readonly what: string
  /** Both when absent. */
  readonly stores?: readonly StoreKind[]
  /** A service of its own, with these settings. */
  readonly options?: WatchedOptions
  readonly expected: Expected
  readonly prepare?: (on: WatchedService) => Promise<unknown>
  /** Measured. The answers of callers whose patience is part of the case are not among the outcomes. */
  readonly send: (on: WatchedService) => Promise<readonly Outcome[]>
  readonly check?: (on: WatchedService, seen: Observation) => void | Promise<void>
}

export const INTEGER: JsonObject = { type: 'integer' }
export const STRING: JsonObject = { type: 'string' }
export const INTEGERS: JsonObject = { type: 'array', items: INTEGER }
export const BY_ID = (id: string): JsonObject => ({ field: '_id', op: '=', rvalue: id })
export const ID: JsonObject = { field: '_id' }
export const ALL: JsonObject = { field: '*', recursive: true }

/** Who attacks; callers share by name. */
export const GREEDY = 'greedy'

export function find(on: WatchedService, entity: string, body: JsonObject): Promise<Outcome> {
  return on.ask('POST', `/data/find/${entity}`, { body, caller: GREEDY })
}

export function update(on: WatchedService, entity: string, body: JsonObject): Promise<Outcome> {
  return on.ask('POST', `/data/update/${entity}`, { body, caller: GREEDY })
}

/** Lines of 80 columns, as people write them. */
export function prose(characters: number): string {
  const line = 'the quick brown fox jumps over the lazy dog while "somebody" looks on, and so on\n'
  return line.repeat(Math.ceil(characters / line.length)).slice(0, characters)
}

export function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i))
}
