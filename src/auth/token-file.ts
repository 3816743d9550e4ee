/** The file of tokens: its format, and reading and updating it. Updates use a lock file, so that none is lost. */
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
  /** SHA-256 of the secret. A slow hash would not add protection, because the secret has 256 random bits. */
  readonly hash: string
  readonly principal: string
  readonly roles: readonly string[]
  readonly permissions?: readonly Permission[]
  readonly claims?: JsonObject
  readonly created: string
  readonly expires?: string
}

export type NewToken = Omit<TokenRecord, 'id' | 'hash' | 'created'>

/** The file of tokens cannot be used; the message names it. */
export class TokenFileError extends Error {}

export function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** Empty when there is no file. */
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

/** A user who can write the file can obtain any role. Windows has no such mode bits. */
function refuseSharedWriting(file: string, { mode }: Stats): void {
  if (process.platform === 'win32' || (mode & 0o022) === 0) return
  throw new TokenFileError(`${file} can be written by its group or by everybody; run: chmod go-w ${file}`)
}

/** Adds a token. The returned text is not stored, so it cannot be read again. */
export async function addToken(file: string, newToken: NewToken): Promise<{ id: string; token: string }> {
  const id = Array.from({ length: ID_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')
  const secret = randomBytes(32).toString('base64url')
  const record = { id, hash: hashOf(secret).toString('hex'), created: new Date().toISOString(), ...newToken }
  await updateFile(file, (records) => [...records, record])
  return { id, token: `smalt_${id}_${secret}` }
}

/** False when there is no such token. */
export async function revokeToken(file: string, id: string): Promise<boolean> {
  let isFound = false
  await updateFile(file, (records) => {
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

/** A token with an invalid expiry would never expire, so it is refused. */
function isUsable({ hash, expires }: TokenRecord): boolean {
  return /^[0-9a-f]{64}$/.test(hash) && (expires === undefined || !Number.isNaN(Date.parse(expires)))
}

/** Reads and writes the file under a lock, so that concurrent updates are not lost. */
async function updateFile(
  link: string,
  next: (records: readonly TokenRecord[]) => readonly TokenRecord[],
): Promise<void> {
  mkdirSync(dirname(link), { recursive: true })
  const file = targetOf(link)
  const lock = `${file}.lock`
  await acquireLock(lock)
  try {
    replace(file, `${JSON.stringify({ tokens: next(readTokens(file)) }, undefined, 2)}\n`)
  } finally {
    rmSync(lock, { force: true })
  }
}

/** The target of a symbolic link, so that the link is not replaced by a file. */
function targetOf(link: string): string {
  try {
    return realpathSync(link)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return link
    throw new TokenFileError(`${link} cannot be read: ${(error as Error).message}`)
  }
}

function replace(file: string, text: string): void {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  // the flag `wx` does not follow a symbolic link that another user put there
  const handle = openSync(temporary, 'wx', 0o600)
  try {
    try {
      const before = statSync(file, { throwIfNoEntry: false })
      if (before) copyOwnership(handle, before, file)
      else giveToOwnerOfDirectory(handle, file)
      writeFileSync(handle, text)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    renameSync(temporary, file)
    syncDirectory(dirname(file))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** A rename is on disk only when its directory is: a token that was removed must not come back after a power failure. */
function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/**
 * A file that the superuser creates belongs to the owner of its directory, which is the user of the service. All others can
 * create only files of their own, as can a superuser without that privilege, such as in a container.
 */
function giveToOwnerOfDirectory(handle: number, file: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(dirname(file))
  try {
    fchownSync(handle, uid, gid)
  } catch {
    // the file stays one of the superuser
  }
}

/** Keeps owner and mode, so that the same users can read the file: the service may run as another user. */
function copyOwnership(handle: number, { uid, gid, mode }: Stats, file: string): void {
  const created = fstatSync(handle)
  try {
    if (created.uid !== uid || created.gid !== gid) fchownSync(handle, uid, gid)
    if ((created.mode & 0o777) !== (mode & 0o777)) fchmodSync(handle, mode & 0o777)
  } catch (error) {
    const message = (error as Error).message
    throw new TokenFileError(`${file} belongs to another user, and its owner cannot be preserved: ${message}`)
  }
}

async function acquireLock(lock: string): Promise<void> {
  for (const deadline = Date.now() + LOCK_WAIT_MS; ; await sleep(LOCK_RETRY_MS)) {
    try {
      // empty: on a full disk, a file with content would be created, but not written, and stay
      closeSync(openSync(lock, 'wx', 0o600))
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
        throw new TokenFileError(`${lock} cannot be written: ${(error as Error).message}`)
      if (Date.now() > deadline)
        throw new TokenFileError(`another process is changing the tokens; if none is, remove ${lock}`)
    }
  }
}
