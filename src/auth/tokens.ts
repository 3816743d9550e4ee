/** Static bearer tokens from a file, which is checked for changes so often that a revoked token is soon refused. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Caller } from '../access/caller.ts'
import { ServiceError } from '../base/errors.ts'
import { CHECK_INTERVAL_MS, fileStamp } from './file-stamp.ts'
import type { MakeCaller } from './make-caller.ts'
import { TOKEN, type TokenRecord, hashOf, readTokens } from './token-file.ts'
import { unauthenticated } from './unauthenticated.ts'

interface TokenOptions {
  readonly file: string
  readonly makeCaller: MakeCaller
  /** Called once when the file becomes unusable. */
  readonly onProblem: (error: unknown) => void
}

/** Token → caller. */
export function tokenMode(options: TokenOptions): (token: string) => Caller {
  const currentTokens = watchTokenFile(options)
  return (token) => {
    const tokens = currentTokens()
    const [, id = '', secret = ''] = TOKEN.exec(token) ?? []
    const found = tokens.get(id)
    // an unknown id takes the same time as a known one
    const isMatch = timingSafeEqual(hashOf(secret), found?.hash ?? NO_HASH)
    if (!isMatch || !found) throw unauthenticated('the token is not valid')
    if (found.expiresAt <= Date.now()) throw unauthenticated('the token has expired')
    return found.caller
  }
}

/** Tokens stay valid for this long while the file is unreadable and might revoke them. */
const GRACE_MS = 5_000
const NO_HASH = randomBytes(32)

/** The tokens of the file; while it is unreadable, those read last, for `GRACE_MS`. */
function watchTokenFile({
  file,
  makeCaller,
  onProblem,
}: TokenOptions): () => ReadonlyMap<string, CachedToken> {
  let tokens: ReadonlyMap<string, CachedToken> = new Map()
  let stamp = ''
  let checkedAt = -Infinity
  let readAt = -Infinity
  let hasFailed = false
  const refresh = (now: number): void => {
    checkedAt = now
    const current = fileStamp(file)
    try {
      if (current !== stamp) tokens = rebuilt(tokens, readTokens(file), makeCaller)
      // only after success, so that an unreadable file is tried again
      stamp = current
      readAt = now
      hasFailed = false
    } catch (error) {
      if (!hasFailed) onProblem(error)
      hasFailed = true
    }
  }
  refresh(performance.now())
  return () => {
    const now = performance.now()
    if (now - checkedAt >= CHECK_INTERVAL_MS) refresh(now)
    // counted from the last successful check, because the file may have been unreadable since then
    if (hasFailed && now - readAt > GRACE_MS) throw unavailable()
    return tokens
  }
}

interface CachedToken {
  readonly hash: Buffer
  readonly expiresAt: number
  readonly caller: Caller
  readonly text: string
}

/** An unchanged record keeps its caller object, which other modules use as a cache key. */
function rebuilt(
  before: ReadonlyMap<string, CachedToken>,
  records: readonly TokenRecord[],
  makeCaller: MakeCaller,
): ReadonlyMap<string, CachedToken> {
  const entries = records.map((record): [string, CachedToken] => {
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
