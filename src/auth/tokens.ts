/** Static bearer tokens, from a file that is looked at again so often that a revoked one soon stops counting. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Caller } from '../access/caller.ts'
import { ServiceError } from '../base/errors.ts'
import { FRESH_MS, stampOf } from './file-stamp.ts'
import type { MakeCaller } from './make-caller.ts'
import { TOKEN, type TokenRecord, hashOf, readTokens } from './token-file.ts'
import { unauthenticated } from './unauthenticated.ts'

interface TokenOptions {
  readonly file: string
  readonly makeCaller: MakeCaller
  /** Told once of a file that cannot be used, until it can be again. */
  readonly onProblem: (error: unknown) => void
}

/** From the text of a token to its caller. */
export function tokenMode(options: TokenOptions): (token: string) => Caller {
  const knownNow = lookedAfter(options)
  return (token) => {
    const known = knownNow()
    const [, id = '', secret = ''] = TOKEN.exec(token) ?? []
    const found = known.get(id)
    // the same work whether the id is known or not
    const isRight = timingSafeEqual(hashOf(secret), found?.hash ?? NO_HASH)
    if (!isRight || !found) throw unauthenticated('the token is not valid')
    if (found.expiresAt <= Date.now()) throw unauthenticated('the token has expired')
    return found.caller
  }
}

/** So long tokens count though the file may revoke them, for all that can be told. */
const GRACE_MS = 5_000
const NO_HASH = randomBytes(32)

/** What the file holds, or held a moment ago where it cannot be read. */
function lookedAfter({ file, makeCaller, onProblem }: TokenOptions): () => ReadonlyMap<string, Known> {
  let known: ReadonlyMap<string, Known> = new Map()
  let stamp = ''
  let lookedAt = -Infinity
  let soundAt = -Infinity
  let hasFailed = false
  const look = (now: number): void => {
    lookedAt = now
    const current = stampOf(file)
    try {
      if (current !== stamp) known = remade(known, readTokens(file), makeCaller)
      // only now, so that a file that could not be read is tried again
      stamp = current
      soundAt = now
      hasFailed = false
    } catch (error) {
      if (!hasFailed) onProblem(error)
      hasFailed = true
    }
  }
  look(performance.now())
  return () => {
    const now = performance.now()
    if (now - lookedAt >= FRESH_MS) look(now)
    // counted from when the file was last found sound: nobody knows how long it has been unreadable
    if (hasFailed && now - soundAt > GRACE_MS) throw unavailable()
    return known
  }
}

interface Known {
  readonly hash: Buffer
  readonly expiresAt: number
  readonly caller: Caller
  readonly text: string
}

/** A record that did not change keeps its caller, whom others remember things about. */
function remade(
  before: ReadonlyMap<string, Known>,
  records: readonly TokenRecord[],
  makeCaller: MakeCaller,
): ReadonlyMap<string, Known> {
  const entries = records.map((record): [string, Known] => {
    const text = JSON.stringify(record)
    const old = before.get(record.id)
    if (old?.text === text) return [record.id, old]
    const expiresAt = record.expires === undefined ? Infinity : Date.parse(record.expires)
    const hash = Buffer.from(record.hash, 'hex')
    return [record.id, { hash, expiresAt, caller: makeCaller(record), text }]
  })
  return new Map(entries)
}

function unavailable(): ServiceError {
  return new ServiceError('crud:Unavailable', 'tokens cannot be checked at the moment')
}
