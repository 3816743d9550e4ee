/** What the server asks about every request: may it come from there, and who asks. */
import type { IncomingMessage } from 'node:http'
import type { Caller } from '../access/caller.ts'

export interface Authentication {
  /** Whether requests without credentials are let in, so that only this machine may reach the service. */
  readonly isOpen: boolean
  /** Refuses what a foreign web page may have caused; asked for every request. */
  readonly admit: (request: IncomingMessage) => void
  /** Who asks; asked only where it matters, and fails with 401 where it cannot be told. */
  readonly callerOf: (request: IncomingMessage) => Caller | Promise<Caller>
  /** Whether the name of the caller is proven and not just said. */
  readonly isProven: (caller: Caller) => boolean
  /** Whether the request would still make the same caller; asked again and again while an answer is under way. */
  readonly stillCounts: (request: IncomingMessage, caller: Caller) => boolean | Promise<boolean>
}

/** Knows one kind of credentials; undefined when the request carries none of that kind. */
export type Mode = (request: IncomingMessage) => Caller | Promise<Caller> | undefined

/** Who asks where nobody is asked who they are. */
export const NOBODY: Caller = { principal: '', roles: new Set(), permissions: new Set(), claims: {} }

/** Without credentials anyone who reaches the address is let in, so it must not be reachable from elsewhere. */
export class OpenNetworkError extends Error {}
