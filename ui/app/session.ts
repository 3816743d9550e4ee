/** Who the user is: a token, kept for this tab only, or in open mode the roles and the name that the address says. */
import { createClient } from '../client/client.ts'
import { type Query, currentPlace } from './place.ts'
import { createStore } from './store.ts'

const KEY = 'smalt.token'

export const tokenStore = createStore(sessionStorage.getItem(KEY) ?? '')

/** Whether the service refused a request for lack of valid credentials. */
export const signedOutStore = createStore(false)

/** Why the last attempt to sign in failed. */
export const signInProblemStore = createStore('')

let signIns = 0

/** Changes when another token is entered, possibly by somebody else. A renewed token belongs to the same user. */
export function currentSignIn(): number {
  return signIns
}

export function signIn(token: string): void {
  if (token !== tokenStore.get()) signIns++
  setToken(token)
}

function setToken(token: string): void {
  if (token === '') sessionStorage.removeItem(KEY)
  else sessionStorage.setItem(KEY, token)
  tokenStore.set(token)
  signedOutStore.set(false)
  signInProblemStore.set('')
}

/** Replaces the token before it expires, until somebody signs out or in. Where that fails, the page asks to sign in. */
export function signInWith(token: RenewedToken): void {
  signIn(token.access)
  renewLater(token)
}

function renewLater({ access, renewal }: RenewedToken): void {
  if (!renewal) return
  const isCurrent = (): boolean => tokenStore.get() === access
  const renew = async (): Promise<void> => {
    const renewed = await renewal.renew()
    // somebody may have signed out meanwhile
    if (!isCurrent()) return
    setToken(renewed.access)
    renewLater(renewed)
  }
  setTimeout(
    () => {
      if (isCurrent()) renew().catch(() => undefined)
    },
    Math.min(renewal.inMs, LONGEST_TIMER_MS),
  )
}

/** A timer for longer would fire at once, and so would that of the next token. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

interface RenewedToken {
  readonly access: string
  readonly renewal?: { readonly inMs: number; readonly renew: () => Promise<RenewedToken> }
}

export interface ViewedAs {
  readonly roles: readonly string[]
  readonly principal: string
  /** A JSON object as text, or empty. */
  readonly claims: string
}

export function viewedAs(): ViewedAs {
  const { as = '', who = '', claims = '' } = currentPlace().query
  return { roles: as.split(',').filter((role) => role !== ''), principal: who, claims }
}

/** Changes with whose rights apply. */
export function callerKey({ as = '', who = '', claims = '' }: Query): string {
  return JSON.stringify([as, who, claims])
}

/** Headers that identify the caller, as people read them. */
export function callerHeaders(): Readonly<Record<string, string>> {
  const token = tokenStore.get()
  if (token !== '') return { Authorization: `Bearer ${token}` }
  const { roles, principal, claims } = viewedAs()
  return {
    ...(roles.length > 0 && { 'Smalt-Roles': roles.join(', ') }),
    ...(principal !== '' && { 'Smalt-Principal': principal }),
    ...(claims !== '' && { 'Smalt-Claims': claims }),
  }
}

/** The same, as a browser sends them: it takes one character for each byte, and the service reads UTF-8. */
export function encodedCallerHeaders(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(callerHeaders()).map(([name, value]) => [
      name,
      Array.from(new TextEncoder().encode(value), (byte) => String.fromCharCode(byte)).join(''),
    ]),
  )
}

export const client = createClient({ baseUrl: '', headers: encodedCallerHeaders })
