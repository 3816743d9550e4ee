/** Which service a command talks to, and as whom: flags, a profile that a flag names, variables, another profile. */
import type { Environment } from '../config/settings.ts'
import type { OptionValues } from '../option.ts'
import { usageError } from '../usage-error.ts'
import { readProfile } from './profile.ts'

/** The options of every command that talks to a service. */
export const CONNECTION_OPTIONS = {
  url: {
    type: 'string',
    value: 'URL',
    summary: 'address of the service (http://127.0.0.1:8080; SMALT_URL)',
  },
  token: {
    type: 'string',
    value: 'T',
    summary: 'token of the caller; the variable SMALT_TOKEN is safer, because other users cannot see it',
  },
  profile: {
    type: 'string',
    value: 'NAME',
    summary: 'profile with url and token, in ~/.config/smalt/profiles.json (default; SMALT_PROFILE)',
  },
  role: {
    type: 'string',
    multiple: true,
    value: 'R',
    summary: 'role of the caller, for a service in open mode; may be repeated',
  },
  principal: { type: 'string', value: 'P', summary: 'name of the caller, for a service in open mode' },
} as const

export type ConnectionFlags = OptionValues<typeof CONNECTION_OPTIONS>

export interface Connection {
  /** Without a slash at the end. */
  readonly base: string
  readonly headers: Readonly<Record<string, string>>
}

const ADDRESS = 'http://127.0.0.1:8080'

/** The token of a profile is only sent to the address of that profile. */
export function connectionFrom(flags: ConnectionFlags, environment: Environment): Connection {
  const url = nonEmpty(environment['SMALT_URL'])
  const token = nonEmpty(environment['SMALT_TOKEN'])
  const name = flags.profile ?? nonEmpty(environment['SMALT_PROFILE'])
  const isComplete =
    (flags.url ?? url) !== undefined && (flags.token ?? token) !== undefined && name === undefined
  const profile = isComplete ? {} : readProfile(name, environment)
  // otherwise a forgotten variable would send the command to another service than the one that it names
  const strongest = <T>(variable: T, ofProfile: T): T =>
    flags.profile === undefined ? (variable ?? ofProfile) : (ofProfile ?? variable)
  const base = baseFrom(flags.url ?? strongest(url, profile.url) ?? ADDRESS)
  const isOfProfile = profile.url !== undefined && baseFrom(profile.url) === base
  // the variables belong together: a token is not for another service than the one that they name
  const isForOther = flags.profile !== undefined && isOfProfile && url !== undefined && !isAt(url, base)
  const credentials =
    flags.token ?? strongest(isForOther ? undefined : token, isOfProfile ? profile.token : undefined)
  return { base, headers: headersFrom(flags, credentials) }
}

/** A variable that is not used may be anything. */
function isAt(url: string, base: string): boolean {
  return URL.canParse(url) && /^https?:/.test(url) && baseFrom(url) === base
}

function headersFrom(
  { role, principal }: ConnectionFlags,
  token: string | undefined,
): Record<string, string> {
  const roles = role?.join(', ')
  for (const text of [roles, principal]) {
    if (text !== undefined && !/^[\x20-\x7e\u00a0-\u{10ffff}]*$/u.test(text))
      throw usageError('--role and --principal must be one line of text')
  }
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    throw usageError('the token must have visible characters of ASCII only; was all of it copied?')
  return {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(roles !== undefined && { 'smalt-roles': asHeader(roles) }),
    ...(principal !== undefined && { 'smalt-principal': asHeader(principal) }),
  }
}

/** The service reads headers as UTF-8, and `fetch` takes one character for each byte. */
function asHeader(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}

function baseFrom(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username !== '' || parsed.password !== '')
    throw usageError('--url must be an http or https address, without a password')
  return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`
}
