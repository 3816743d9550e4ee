/** `smalt token`: adds, lists and revokes tokens. A running service applies changes within a second. */
import { type Permission, PERMISSIONS } from '../../access/caller.ts'
import { type NewToken, TokenFileError, addToken, readTokens, revokeToken } from '../../auth/token-file.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { printWhole } from '../client/output.ts'
import type { Config } from '../config/config.ts'
import { EXIT, Exit } from '../exit.ts'
import { usageError } from '../usage-error.ts'

interface TokenFlags {
  readonly principal?: string
  readonly role?: readonly string[]
  readonly permission?: readonly string[]
  readonly claim?: readonly string[]
  readonly expires?: string
  readonly json?: boolean
}

export async function runToken(
  [action = '', ...words]: readonly string[],
  flags: TokenFlags,
  config: Config,
): Promise<void> {
  const file = config.tokensFile
  try {
    if (action === 'add' && words.length === 0) await add(file, flags, config)
    else if (action === 'list' && words.length === 0) list(file, flags.json === true)
    else if (action === 'revoke' && words.length === 1) await revoke(file, words[0]!)
    else
      throw usageError('token takes add, list, or revoke and an id', {
        word: action,
        known: ['add', 'list', 'revoke'],
      })
  } catch (error) {
    if (error instanceof TokenFileError) throw new Exit(EXIT.failed, error.message)
    throw error
  }
}

/** Only the token goes to standard output. It is shown once, because it cannot be read back. */
async function add(file: string, flags: TokenFlags, config: Config): Promise<void> {
  const { id, token } = await addToken(file, newToken(flags))
  try {
    await printWhole(`${token}\n`)
  } catch (error) {
    await revokeToken(file, id)
    throw error instanceof Exit
      ? new Exit(error.code, `${error.message}; the token was removed again`)
      : error
  }
  process.stderr.write(`added token ${id}; it is shown only now, and kept as a hash in ${file}\n`)
  if (!config.auth.tokens)
    process.stderr.write('the service takes no tokens yet: start it with --auth tokens (SMALT_AUTH=tokens)\n')
}

function list(file: string, isJson: boolean): void {
  const records = readTokens(file).map(({ hash: _hash, ...record }) => record)
  if (records.length === 0) process.stderr.write(`there are no tokens in ${file}\n`)
  if (isJson) {
    process.stdout.write(`${JSON.stringify(records, undefined, 2)}\n`)
    return
  }
  for (const { id, principal, roles, permissions = [], expires } of records) {
    const state = expires === undefined ? 'never expires' : `${endWord(expires)} ${expires}`
    process.stdout.write(`${id}  ${principal}  ${[...roles, ...permissions].join(',') || '-'}  ${state}\n`)
  }
}

function endWord(expires: string): string {
  return Date.parse(expires) <= Date.now() ? 'expired' : 'expires'
}

async function revoke(file: string, id: string): Promise<void> {
  // checked first, because `revokeToken` would create a missing file
  const isThere = readTokens(file).some((record) => record.id === id)
  if (!isThere || !(await revokeToken(file, id)))
    throw new Exit(EXIT.failed, `there is no token ${id} in ${file}`)
  process.stderr.write(`revoked token ${id}\n`)
}

function newToken({ principal, role = [], permission = [], claim = [], expires }: TokenFlags): NewToken {
  if (principal === undefined || principal.trim() === '') throw usageError('token add needs --principal')
  const permissions = permission.map(permissionFrom)
  const claims = claimsFrom(claim)
  return {
    principal,
    roles: role.map(roleFrom),
    ...(permissions.length > 0 && { permissions }),
    ...(claim.length > 0 && { claims }),
    ...(expires !== undefined && { expires: expiryFrom(expires) }),
  }
}

function roleFrom(text: string): string {
  if (text.trim() === '') return fail('--role must not be empty')
  return text.includes(',') ? fail('--role takes one role: repeat it, as in --role editor --role hr') : text
}

function permissionFrom(text: string): Permission {
  const found = PERMISSIONS.find((each) => each === text)
  return found ?? fail(`--permission must be one of ${PERMISSIONS.join(', ')}, not ${text}`)
}

/** A name that is given several times has a list of values, as row rules read it. */
function claimsFrom(texts: readonly string[]): JsonObject {
  const claims = new Map<string, string[]>()
  for (const [name, value] of texts.map(claimFrom)) {
    const values = claims.get(name)
    if (values) values.push(value)
    else claims.set(name, [value])
  }
  return Object.fromEntries(
    [...claims].map(([name, values]) => [name, values.length === 1 ? values[0]! : values]),
  )
}

function claimFrom(text: string): readonly [string, string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  return name === undefined || value === undefined ? fail('--claim must be NAME=VALUE') : [name, value]
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }
const MAX_SPAN_MS = 100 * 365 * 86_400_000

/** A duration from now such as `90d`, or a date. */
function expiryFrom(text: string): string {
  const [, count, unit = ''] = /^(\d{1,9})([mhd])$/.exec(text) ?? []
  const [, day] = /^(\d{4}-\d{2}-\d{2})(?:T.+)?$/.exec(text) ?? []
  const span = Number(count) * (UNIT_MS[unit] ?? Number.NaN)
  const time = day === undefined ? Date.now() + (span <= MAX_SPAN_MS ? span : Number.NaN) : Date.parse(text)
  if (!(time > Date.now()) || (day !== undefined && !isRealDay(day)))
    throw usageError('--expires must be a span such as 90d, 12h or 30m, or a date to come such as 2030-12-31')
  return new Date(time).toISOString()
}

/** JavaScript takes 30 February for 2 March. */
function isRealDay(day: string): boolean {
  const time = Date.parse(day)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day)
}

function fail(problem: string): never {
  throw usageError(problem)
}
