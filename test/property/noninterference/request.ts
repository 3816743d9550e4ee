/** A request as both sides get it, with placeholders for what is another text on each of them. */
import type { Json } from '../../../src/base/json/json.ts'

export interface Request {
  /** The `operationId` of the route that it is for. */
  readonly route: string
  readonly method: string
  readonly path: string
  readonly body?: Json
  readonly roles: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
  /** Whether a ticket in the address stands for the roles and the name of the caller. */
  readonly byTicket?: true
}

/** The n-th number of an event, as each side returned it; there may be fewer. */
export function eventMark(n: number): string {
  return `@S${n}@`
}

/** The n-th document version, as each side returned it; there may be fewer. */
export function versionMark(n: number): string {
  return `@V${n}@`
}
