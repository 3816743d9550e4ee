/** The interface of authentication to the HTTP server: origin checks, and credentials → caller. */
import type { IncomingMessage } from 'node:http'
import type { Caller } from '../access/caller.ts'

export interface Authentication {
  /** Whether requests need no credentials; the service then listens on loopback addresses only. */
  readonly isOpen: boolean
  /** Throws for requests that a foreign web page may have caused; called for every request. */
  readonly admit: (request: IncomingMessage) => void
  /** The caller of a request; called only for routes that need one, and fails with 401 without valid credentials. */
  readonly callerOf: (request: IncomingMessage) => Caller | Promise<Caller>
  /** Whether credentials proved who the caller is; false for names that the open mode accepts unchecked. */
  readonly isAuthenticated: (caller: Caller) => boolean
  /** Whether the credentials still give the same caller; checked repeatedly while a response is being sent. */
  readonly isStillValid: (request: IncomingMessage, caller: Caller) => boolean | Promise<boolean>
}

/** Checks one kind of credentials; undefined when the request has none of that kind. */
export type Mode = (request: IncomingMessage) => Caller | Promise<Caller> | undefined

/** The caller on routes that need no credentials. */
export const UNIDENTIFIED_CALLER: Caller = {
  principal: '',
  roles: new Set(),
  permissions: new Set(),
  claims: {},
}

/** The open mode admits everyone who reaches the address, so it refuses addresses other than loopback. */
export class OpenNetworkError extends Error {}
