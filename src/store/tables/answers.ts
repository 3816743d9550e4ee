/** Answers to writes with an idempotency key. Each is stored in the transaction of its write. */
import { ServiceError } from '../../base/errors.ts'
import type { Bounds } from '../bounds.ts'
import type { Engine, EngineSession } from '../engine.ts'
import { type Fragment, join, param, sql } from '../sql/fragment.ts'

/** A request with an idempotency key. */
export interface Keyed {
  /** The name of the caller; others may use the same key. */
  readonly caller: string
  readonly key: string
  /** Digest of everything that a repetition must have in common with the first request. */
  readonly fingerprint: string
  /** Milliseconds since 1970. */
  readonly nowMs: number
}

export interface Answer {
  /** HTTP status. */
  readonly status: number
  readonly text: string
}

/** Inside the transaction of a write. */
export interface AnswerSession {
  /**
   * The answer to repeat; undefined if the request is the first one with this key. Throws if the key belongs to
   * another request, or to one that another process is working on.
   */
  readonly find: (keyed: Keyed) => Promise<Answer | undefined>
  readonly keep: (keyed: Keyed, answer: Answer & { readonly expiresMs: number }) => Promise<void>
  /**
   * For requests of several transactions, which `keep` ends: as `find`, and other processes are refused for the
   * duration of the lease.
   */
  readonly begin: (keyed: Keyed, lease: Lease) => Promise<Begun>
}

interface Begun {
  /** Absent if the request is to be carried out, or what is left of it. */
  readonly answer?: Answer
  readonly isRepeated: boolean
}

interface Lease {
  /** When a process that has not ended the request by then must have died. */
  readonly untilMs: number
  readonly expiresMs: number
  /** Throws if the caller may not have another key. */
  readonly requireRoom: () => void
}

export interface Answers {
  /** Ends the lease of a request that failed. */
  readonly release: (keyed: Keyed) => Promise<void>
  /** What a caller uses; counting stops at `maxKeys`. */
  readonly usage: (
    caller: string,
    limit: { readonly maxKeys: number; readonly nowMs: number; readonly bounds?: Bounds | undefined },
  ) => Promise<Usage>
  /** Deletes a limited number of expired answers, and returns how many. */
  readonly trim: (nowMs: number) => Promise<number>
}

export interface Usage {
  readonly keys: number
  readonly bytes: number
}

export function createAnswers(engine: Engine): Answers {
  return {
    release: (keyed) =>
      engine.run('answers', async () => {
        // One process owns an embedded database, and does not look at leases.
        if (!engine.isShared) return
        const ended = sql`update smalt_answer set leased_until = 0 where ${isOf(keyed)} and status = 0`
        await engine.batch([ended], { bounds: RELEASING })
      }),
    usage: (caller, { maxKeys, nowMs, bounds }) =>
      engine.run('answers', async () => {
        const [row] = await engine.query(
          sql`select count(*), coalesce(sum(size), 0) from (
            select size from smalt_answer where caller = ${param(caller)} and expires > ${param(nowMs)}
            limit ${param(maxKeys)}) as own`,
          { bounds },
        )
        return { keys: Number(row![0]), bytes: Number(row![1]) }
      }),
    trim: (nowMs) =>
      engine.run('answers', async () => {
        const isExpired = sql`expires <= ${param(nowMs)}`
        const [rows] = await engine.batch([
          sql`delete from smalt_answer where (caller, key) in
            (select caller, key from smalt_answer where ${isExpired} order by expires limit ${param(TRIMMED)})
            and ${isExpired} returning 1`,
        ])
        return rows!.length
      }),
  }
}

/** The time of the request may be over, and its caller waits for the answer. */
const RELEASING: Bounds = { timeLimitMs: 1_000 }

/** Limits the time for which one statement holds the write lock of SQLite. */
const TRIMMED = 500

export function answersIn(engine: Engine, session: EngineSession): AnswerSession {
  const find = async (keyed: Keyed) => {
    if (!(await engine.tryClaim(session, `key ${JSON.stringify([keyed.caller, keyed.key])}`)))
      throw underWay()
    const [row] = await session.query(
      sql`select fingerprint, status, answer, leased_until, expires from smalt_answer
        where ${isOf(keyed)} and expires > ${param(keyed.nowMs)}`,
    )
    if (!row) return undefined
    if (row[0] !== keyed.fingerprint) throw mismatch()
    const [, status, text, leasedUntil, expiresMs] = row
    return {
      status: Number(status),
      text: String(text),
      leasedUntil: Number(leasedUntil),
      expiresMs: Number(expiresMs),
    }
  }
  return {
    async find(keyed) {
      const found = await find(keyed)
      return found && { status: found.status, text: found.text }
    },
    async keep(keyed, { status, text, expiresMs }) {
      await session.query(put(keyed, { status, text, expiresMs, leasedUntil: 0 }))
    },
    async begin(keyed, { untilMs, expiresMs, requireRoom }) {
      const found = await find(keyed)
      if (found && found.status !== 0) {
        return { answer: { status: found.status, text: found.text }, isRepeated: true }
      }
      // One process owns an embedded database, and refuses concurrent requests by itself.
      if (engine.isShared && found && found.leasedUntil > keyed.nowMs) throw underWay()
      if (!found) requireRoom()
      // A repetition does not prolong it: the answers of the parts would not be there for as long.
      const lastMs = found?.expiresMs ?? expiresMs
      await session.query(put(keyed, { status: 0, text: '', expiresMs: lastMs, leasedUntil: untilMs }))
      return { isRepeated: found !== undefined }
    },
  }
}

interface Row extends Answer {
  readonly expiresMs: number
  readonly leasedUntil: number
}

function put({ caller, key, fingerprint }: Keyed, { status, text, expiresMs, leasedUntil }: Row): Fragment {
  const values = [caller, key, fingerprint, status, text, Buffer.byteLength(text), expiresMs, leasedUntil]
  return sql`insert into smalt_answer(caller, key, fingerprint, status, answer, size, expires, leased_until)
    values (${join(values.map(param), ', ')})
    on conflict (caller, key) do update set fingerprint = excluded.fingerprint, status = excluded.status,
      answer = excluded.answer, size = excluded.size, expires = excluded.expires,
      leased_until = excluded.leased_until`
}

function isOf({ caller, key }: Keyed): Fragment {
  return sql`caller = ${param(caller)} and key = ${param(key)}`
}

export function underWay(): ServiceError {
  const message = 'the first request with this Idempotency-Key is still running; ask again in a moment'
  return new ServiceError('crud:IdempotencyConflict', message)
}

function mismatch(): ServiceError {
  const message =
    'this Idempotency-Key was used for another request: a repetition has the same method, address, body, roles and claims; take a new key, such as a UUID, for each write'
  return new ServiceError('crud:IdempotencyMismatch', message)
}
