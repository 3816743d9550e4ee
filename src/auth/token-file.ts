/** The file of tokens: what it holds, how it is read, and how it is changed without losing another change. */
import { createHash, randomBytes, randomInt } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Permission, PERMISSIONS } from '../access/caller.ts'
import type { Json, JsonObject } from '../base/json/json.ts'
import { parseJson } from '../base/json/parse-json.ts'
import { Type, compileShape } from '../base/json/shape.ts'

export interface TokenRecord {
  readonly id: string
  /** SHA-256 of the secret. The secret is 256 random bits, which no slow hash could protect any better. */
  readonly hash: string
  readonly principal: string
  readonly roles: readonly string[]
  readonly permissions?: readonly Permission[]
  readonly claims?: JsonObject
  readonly created: string
  readonly expires?: string
}

export type NewToken = Omit<TokenRecord, 'id' | 'hash' | 'created'>

/** A file that cannot be used; the message names it. */
export class TokenFileError extends Error {}

export function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** None when there is no file. */
export function readTokens(file: string): readonly TokenRecord[] {
  let handle
  try {
    handle = openSync(file, 'r')
    refuseSharedWriting(file, fstatSync(handle))
    return parseTokens(file, readFileSync(handle, 'utf8'))
  } catch (error) {
    if (error instanceof TokenFileError) throw error
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new TokenFileError(`${file} cannot be read: ${(error as Error).message}`)
  } finally {
    if (handle !== undefined) closeSync(handle)
  }
}

/** Whoever can write the file can give themselves any role. Windows has no such bits. */
function refuseSharedWriting(file: string, { mode }: Stats): void {
  if (process.platform === 'win32' || (mode & 0o022) === 0) return
  throw new TokenFileError(`${file} can be written by its group or by everybody; run: chmod go-w ${file}`)
}

/** Adds a token; what is returned is seen only here. */
export async function addToken(file: string, given: NewToken): Promise<{ id: string; token: string }> {
  const id = Array.from({ length: ID_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')
  const secret = randomBytes(32).toString('base64url')
  const record = { id, hash: hashOf(secret).toString('hex'), created: new Date().toISOString(), ...given }
  await change(file, (records) => [...records, record])
  return { id, token: `smalt_${id}_${secret}` }
}

/** False when there is no such token. */
export async function revokeToken(file: string, id: string): Promise<boolean> {
  let isFound = false
  await change(file, (records) => {
    isFound = records.some((record) => record.id === id)
    return records.filter((record) => record.id !== id)
  })
  return isFound
}

export const TOKEN = /^smalt_([0-9a-z]{12})_([A-Za-z0-9_-]{43})$/

const ID_LENGTH = 12
const LETTERS = '0123456789abcdefghijklmnopqrstuvwxyz'
const LOCK_WAIT_MS = 3_000
const LOCK_RETRY_MS = 20

const Texts = Type.Array(Type.String())
const isTokenFile = compileShape(
  Type.Object(
    {
      tokens: Type.Array(
        Type.Object(
          {
            id: Type.String(),
            hash: Type.String(),
            principal: Type.String(),
            roles: Texts,
            permissions: Type.Optional(Type.Array(Type.Enum(PERMISSIONS))),
            claims: Type.Optional(Type.Object({})),
            created: Type.String(),
            expires: Type.Optional(Type.String()),
          },
          { additionalProperties: false },
        ),
      ),
    },
    { additionalProperties: false },
  ),
)

function parseTokens(file: string, text: string): readonly TokenRecord[] {
  let value: Json
  try {
    value = parseJson(text, 16)
  } catch (error) {
    throw new TokenFileError(`${file} is not JSON: ${(error as Error).message}`)
  }
  const { tokens } = value as unknown as { readonly tokens: readonly TokenRecord[] }
  if (isTokenFile(value) && tokens.every(isUsable)) return tokens
  throw new TokenFileError(`${file} is not a file of tokens`)
}

/** An expiry that is no date would never come, so it must not pass for one. */
function isUsable({ hash, expires }: TokenRecord): boolean {
  return /^[0-9a-f]{64}$/.test(hash) && (expires === undefined || !Number.isNaN(Date.parse(expires)))
}

/** Read and written under a lock, so that two who do so at once do not lose each other's change. */
async function change(
  link: string,
  next: (records: readonly TokenRecord[]) => readonly TokenRecord[],
): Promise<void> {
  mkdirSync(dirname(link), { recursive: true })
  const file = targetOf(link)
  const lock = `${file}.lock`
  await take(lock)
  try {
    replace(file, `${JSON.stringify({ tokens: next(readTokens(file)) }, undefined, 2)}\n`)
  } finally {
    rmSync(lock, { force: true })
  }
}

/** The file itself where its name is a link, so that the link stays one. */
function targetOf(link: string): string {
  try {
    return realpathSync(link)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return link
    throw new TokenFileError(`${link} cannot be read: ${(error as Error).message}`)
  }
}

function replace(file: string, text: string): void {
  const draft = `${file}.${randomBytes(6).toString('hex')}.tmp`
  // a link that somebody put there is not followed
  const handle = openSync(draft, 'wx', 0o600)
  try {
    try {
      const before = statSync(file, { throwIfNoEntry: false })
      if (before) resemble(handle, before, file)
      writeFileSync(handle, text)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/** Whoever read the file before can read it afterwards, and nobody else: the service may run as another user. */
function resemble(handle: number, { uid, gid, mode }: Stats, file: string): void {
  const made = fstatSync(handle)
  try {
    if (made.uid !== uid || made.gid !== gid) fchownSync(handle, uid, gid)
    if ((made.mode & 0o777) !== (mode & 0o777)) fchmodSync(handle, mode & 0o777)
  } catch (error) {
    const message = (error as Error).message
    throw new TokenFileError(`${file} belongs to another user, for whom it cannot be kept: ${message}`)
  }
}

async function take(lock: string): Promise<void> {
  for (const deadline = Date.now() + LOCK_WAIT_MS; ; await sleep(LOCK_RETRY_MS)) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx', mode: 0o600 })
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
        throw new TokenFileError(`${lock} cannot be written: ${(error as Error).message}`)
      if (Date.now() > deadline)
        throw new TokenFileError(`somebody else changes the tokens; if nobody does, remove ${lock}`)
    }
  }
}
