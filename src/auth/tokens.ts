/** Static bearer tokens, from a file that is looked at again so often that a revoked one soon stops counting. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { statSync } from 'node:fs'
import type { Caller } from '../access/caller.ts'
import type { MakeCaller } from './make-caller.ts'
import { TOKEN, type TokenRecord, hashOf, readTokens } from './token-file.ts'
import { unauthenticated } from './unauthenticated.ts'

export interface TokenOptions {
  readonly file: string
  readonly makeCaller: MakeCaller
  /** Told of a file that cannot be used; the tokens last read go on counting. */
  readonly onProblem: (error: unknown) => void
}

/** From the text of a token to its caller. */
export function tokenMode({ file, makeCaller, onProblem }: TokenOptions): (token: string) => Caller {
  let known: ReadonlyMap<string, Known> = new Map()
  let stamp = ''
  let lookedAt = -Infinity
  const refresh = (): void => {
    const now = performance.now()
    if (now - lookedAt < FRESH_MS) return
    lookedAt = now
    const current = stampOf(file)
    if (current === stamp) return
    stamp = current
    try {
      known = remade(known, readTokens(file), makeCaller)
    } catch (error) {
      onProblem(error)
    }
  }
  refresh()
  return (token) => {
    refresh()
    const [, id = '', secret = ''] = TOKEN.exec(token) ?? []
    const found = known.get(id)
    // the same work whether the id is known or not
    const isRight = timingSafeEqual(hashOf(secret), found?.hash ?? NO_HASH)
    if (!isRight || !found) throw unauthenticated('the token is not valid')
    if (found.expiresAt <= Date.now()) throw unauthenticated('the token has expired')
    return found.caller
  }
}

/** So much younger than a second that what watches open answers notices within one. */
const FRESH_MS = 250
const NO_HASH = randomBytes(32)

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

/** Another one whenever the file was replaced or written to. */
function stampOf(file: string): string {
  try {
    const stat = statSync(file, { bigint: true })
    return `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code)
  }
}
