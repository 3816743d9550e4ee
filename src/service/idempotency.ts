/**
 * Writes with an idempotency key: the first answer is stored in the transaction of the write, and repeated to the same
 * caller. An answer that refuses the request as a whole is not stored: nothing was written, and a repetition may succeed.
 */
import { setOrClear } from '../base/memo.ts'
import type { Caller } from '../access/caller.ts'
import { claimOf } from '../access/conditions.ts'
import { ServiceError } from '../base/errors.ts'
import { type Json, type JsonObject, isArray } from '../base/json/json.ts'
import type { Limits } from '../base/limits.ts'
import { compareText } from '../base/text.ts'
import type { Bounds } from '../store/bounds.ts'
import type { Database } from '../store/database.ts'
import type { TransactionSession } from '../store/store.ts'
import type { Answer, Keyed, Usage } from '../store/tables/answers.ts'
import { boundsIn } from './deps.ts'

export type { Answer, Keyed }

/** The part of a request that makes its write happen once. */
export interface Idempotency {
  readonly key: string
  /** Digest of method, address, body, roles, and the claims that row rules refer to. */
  readonly fingerprint: string
}

/** Other claims, such as the expiry of a token, may differ in a repetition. */
export function decidingClaims(caller: Caller, paths: readonly string[]): JsonObject {
  const claims = paths.map((path) => [path, inOrder(claimOf(caller, path.split('.')))] as const)
  return Object.fromEntries(claims.filter((claim): claim is [string, Json] => claim[1] !== undefined))
}

/** A list is the same whatever its order, as rules read it. */
function inOrder(claim: Json | undefined): Json | undefined {
  return isArray(claim) ? claim.toSorted((a, b) => compareText(JSON.stringify(a), JSON.stringify(b))) : claim
}

export interface OnceAnswer extends Answer {
  /** Whether an earlier request was answered with it. */
  readonly isRepeated: boolean
}

interface KeyedRequest extends Idempotency {
  readonly caller: string
  readonly chargedTo?: string | undefined
  /** See `TransactOptions`. */
  readonly bounds?: Bounds | undefined
  readonly seesLatest?: boolean
}

export function keyedRequestOf(
  idempotency: Idempotency,
  { principal }: Caller,
  user: Parameters<typeof boundsIn>[0],
): KeyedRequest {
  return { ...idempotency, caller: principal, chargedTo: user.chargedTo, bounds: boundsIn(user) }
}

interface OnceDeps {
  readonly limits: Limits
  readonly now: () => Date
}

/** Runs work in one transaction with its answer. Work of a repetition does not run. */
export async function runOnce(
  { store, limits, now }: OnceDeps & { readonly store: Pick<Database, 'transact' | 'keyedAnswers'> },
  request: KeyedRequest,
  work: (session: TransactionSession) => Promise<Answer>,
): Promise<OnceAnswer> {
  const keyed = keyedBy(request, now())
  const used = await usageOf(store.keyedAnswers, keyed, { limits, bounds: request.bounds })
  const attempt = request.bounds?.work?.repeatable(work) ?? work
  try {
    const answer = await store.transact(
      async (session): Promise<OnceAnswer> => {
        const { keyedAnswers } = session.bookkeeping
        const first = await keyedAnswers.find(keyed)
        if (first) return { ...first, isRepeated: true }
        requireRoom(used, limits)
        const made = await attempt(session)
        if (made.status >= 400) throw new Refused(made)
        await keyedAnswers.keep(keyed, { ...fitting(made, limits), expiresMs: expiry(keyed, limits) })
        return { ...made, isRepeated: false }
      },
      { caller: request.chargedTo, bounds: request.bounds, seesLatest: request.seesLatest },
    )
    if (!answer.isRepeated) noteUse(store.keyedAnswers, keyed, answer)
    return answer
  } catch (error) {
    if (error instanceof Refused) return { ...error.answer, isRepeated: false }
    throw error
  }
}

/** The answer to an earlier request with this key. */
export async function earlierAnswer(
  { store, now }: Pick<OnceDeps, 'now'> & { readonly store: Pick<Database, 'transact'> },
  request: Idempotency & Pick<KeyedRequest, 'caller' | 'bounds'>,
): Promise<Answer | undefined> {
  const keyed = keyedBy(request, now())
  const { bounds } = request
  return await store.transact((session) => session.bookkeeping.keyedAnswers.find(keyed), { bounds })
}

interface AnswerOfParts extends Answer {
  /** False if a part was refused as a whole: it wrote nothing, stored no answer, and may succeed in a repetition. */
  readonly isComplete: boolean
}

/**
 * Runs work of several transactions, each of which stores its own answer under a part of the key. After a crash, or where
 * a part was refused, a repetition repeats the answers of the parts that are done, and carries out the others.
 */
export async function runInParts(
  { store, limits, now }: OnceDeps & { readonly store: Pick<Database, 'transact' | 'keyedAnswers'> },
  request: KeyedRequest,
  work: (attempt: { readonly isRepeated: boolean }) => Promise<AnswerOfParts>,
): Promise<OnceAnswer> {
  const keyed = keyedBy(request, now())
  const used = await usageOf(store.keyedAnswers, keyed, { limits, bounds: request.bounds })
  const lease = {
    untilMs: keyed.nowMs + limits.queryTimeMs + LEASE_GRACE_MS,
    expiresMs: expiry(keyed, limits),
    requireRoom: () => requireRoom(used, limits),
  }
  const { answer: first, isRepeated } = await store.transact(
    (session) => session.bookkeeping.keyedAnswers.begin(keyed, lease),
    { bounds: request.bounds },
  )
  if (first) return { ...first, isRepeated }
  try {
    const { isComplete, ...made } = await work({ isRepeated })
    const answer = { ...made, expiresMs: lease.expiresMs }
    // A larger answer is made again from those of the parts.
    const mayKeep = isComplete && Buffer.byteLength(made.text) <= limits.idempotencyAnswerBytes
    if (mayKeep && (await keepIfPossible(store, answer, { keyed, bounds: request.bounds })))
      noteUse(store.keyedAnswers, keyed, answer)
    else await release(store, keyed)
    return { ...made, isRepeated: false }
  } catch (error) {
    await release(store, keyed)
    throw error
  }
}

/** The parts are stored: if this takes too long, the request is answered all the same, and a repetition from the parts. */
async function keepIfPossible(
  store: Pick<Database, 'transact'>,
  answer: Answer & { readonly expiresMs: number },
  { keyed, bounds }: { readonly keyed: Keyed; readonly bounds: Bounds | undefined },
): Promise<boolean> {
  try {
    await store.transact((session) => session.bookkeeping.keyedAnswers.keep(keyed, answer), { bounds })
    return true
  } catch (error) {
    if (error instanceof ServiceError) return false
    throw error
  }
}

/** If that fails, a repetition has to wait until the lease is over. */
async function release({ keyedAnswers }: Pick<Database, 'keyedAnswers'>, keyed: Keyed): Promise<void> {
  await keyedAnswers.release(keyed).catch(() => undefined)
}

/** Longer than a process needs to end a request whose time is over. */
const LEASE_GRACE_MS = 5_000

/** The key of a part of a request; no key that a caller can send contains a line break. */
export function partOf({ key, fingerprint }: Idempotency, part: number): Idempotency {
  return { key: `${key}\n${part}`, fingerprint }
}

/** Thrown to roll back the transaction. */
class Refused extends Error {
  readonly answer: Answer

  constructor(answer: Answer) {
    super('the request was refused')
    this.answer = answer
  }
}

function keyedBy({ caller, key, fingerprint }: Idempotency & { readonly caller: string }, now: Date): Keyed {
  return { caller, key, fingerprint, nowMs: now.getTime() }
}

function expiry({ nowMs }: Keyed, { idempotencyTimeMs }: Limits): number {
  return nowMs + idempotencyTimeMs
}

/** Thrown inside the transaction, so that nothing is written. */
export function fitting(answer: Answer, { idempotencyAnswerBytes }: Limits): Answer {
  if (Buffer.byteLength(answer.text) <= idempotencyAnswerBytes) return answer
  const message = `the answer to a write with an Idempotency-Key may have ${idempotencyAnswerBytes} bytes; nothing was written. Ask for less in "projection" where the request has one, or write fewer or smaller documents at once`
  throw new ServiceError('crud:ResultSizeTooLarge', message)
}

interface Known extends Usage {
  readonly readAt: number
}

/** The use of callers as last counted, with what this process has added since. */
const uses = new WeakMap<object, Map<string, Known>>()
const FRESH_MS = 60_000
const MAX_CALLERS = 10_000

/** Counting takes longer than a write, so it is done once a minute for each caller. */
async function usageOf(
  answers: Database['keyedAnswers'],
  { caller, nowMs }: Keyed,
  { limits, bounds }: { readonly limits: Limits; readonly bounds: Bounds | undefined },
): Promise<Usage> {
  const known = usesOf(answers)
  const last = known.get(caller)
  if (last !== undefined && performance.now() - last.readAt < FRESH_MS) return last
  const { keys, bytes } = await answers.usage(caller, { maxKeys: limits.idempotencyKeys, nowMs, bounds })
  setOrClear(known, caller, { keys, bytes, readAt: performance.now() }, MAX_CALLERS)
  return { keys, bytes }
}

/** For new keys only: the repetition of a write that is done has to get its answer, or it would be written twice. */
function requireRoom({ keys, bytes }: Usage, { idempotencyKeys, idempotencyBytes }: Limits): void {
  if (keys < idempotencyKeys && bytes < idempotencyBytes) return
  const message = `one caller may have ${idempotencyKeys} idempotency keys with ${idempotencyBytes} bytes of answers at a time; nothing was written. Wait until the first of them expire, or write without a key`
  throw new ServiceError('crud:LimitExceeded', message)
}

function noteUse(answers: Database['keyedAnswers'], { caller }: Keyed, { text }: Answer): void {
  const known = usesOf(answers)
  const last = known.get(caller)
  if (last) known.set(caller, { ...last, keys: last.keys + 1, bytes: last.bytes + Buffer.byteLength(text) })
}

function usesOf(answers: Database['keyedAnswers']): Map<string, Known> {
  const known = uses.get(answers) ?? new Map<string, Known>()
  uses.set(answers, known)
  return known
}

interface TrimOptions {
  readonly stores: ReadonlyMap<string, Pick<Database, 'keyedAnswers'>>
  readonly now: () => Date
  readonly onInternalError: (error: unknown) => void
}

/** Deletes expired answers, a few at a time, so that no write waits long. */
export function trimAnswers({ stores, now, onInternalError }: TrimOptions): AsyncDisposable {
  let round = Promise.resolve()
  let isIdle = true
  const closing = new AbortController()
  const trimAll = async (): Promise<void> => {
    for (const { keyedAnswers } of stores.values()) {
      try {
        while (!closing.signal.aborted && (await keyedAnswers.trim(now().getTime())) > 0);
      } catch (error) {
        if (!(error instanceof ServiceError)) onInternalError(error)
      }
    }
  }
  const timer = setInterval(() => {
    if (!isIdle) return
    isIdle = false
    round = trimAll().finally(() => void (isIdle = true))
  }, TRIM_MS).unref()
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      closing.abort()
      await round
    },
  }
}

const TRIM_MS = 60_000
