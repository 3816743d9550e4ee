/**
 * The definition of a NATS sink: its server, the prefix of its subjects, and the credentials for the server.
 */
import type { JsonObject } from '../../base/json/json.ts'
import { type Shape, Type } from '../../base/json/shape.ts'
import { isPrivateAddress } from '../addresses.ts'
import { type Host, foreignHostOf } from '../host.ts'
import { refusal } from '../refusal.ts'
import type { ReadOptions, SinkCommon } from '../sink-kind.ts'

export interface NatsDefinition extends SinkCommon {
  readonly kind: 'nats'
  /** The prefix of all subjects. */
  readonly subject: string
  readonly credentials?: NatsCredentials
}

/** The supported ways to authenticate. */
export type NatsCredentials =
  | { readonly user: string; readonly password: string }
  | { readonly token: string }
  /** The seed of a user's key. */
  | { readonly nkey: string }
  /** The content of a credentials file: a JWT and the seed of its key. */
  | { readonly creds: string }

type NatsReading = ReadOptions<NatsDefinition>

export interface NatsServer extends Host {
  readonly port: number
  readonly isTls: boolean
}

export const CredentialsShape = Type.Object(
  {
    user: Type.Optional(Type.String({ description: 'Who the service is to the NATS server.' })),
    password: secret('Of the user.'),
    token: secret('In place of a user.'),
    nkey: secret('Seed of a key, in place of a user.'),
    creds: secret('Content of a file of credentials, in place of a user.'),
  },
  { additionalProperties: false },
)

function secret(description: string): Shape {
  return Type.Optional(Type.String({ description, writeOnly: true }))
}

export function readNats(body: JsonObject, options: NatsReading): Omit<NatsDefinition, keyof SinkCommon> {
  const { url, subject } = body
  checkServer(url as string, options)
  if (typeof subject !== 'string' || !isSubject(subject)) {
    const rule = 'names with dots between, without wildcards, and not beginning with "$" or "_"'
    throw refusal(`"subject" says what subjects begin with: ${rule}`, '/subject')
  }
  const credentials = readCredentials(body, options)
  return { subject, ...(credentials && { credentials }) }
}

const DEFAULT_PORT = 4222

/** Undefined when the URL is not one of a NATS server. */
export function serverOf(url: string): NatsServer | undefined {
  const parsed = URL.parse(url)
  if (!parsed || !/^(?:nats|tls):$/.test(parsed.protocol)) return undefined
  const host = foreignHostOf(parsed)
  const hasMore = !/^\/?$/.test(parsed.pathname) || parsed.search !== '' || parsed.hash !== ''
  if (!host || hasMore) return undefined
  return {
    ...host,
    port: parsed.port === '' ? DEFAULT_PORT : Number(parsed.port),
    isTls: parsed.protocol === 'tls:',
  }
}

/**
 * Checks a literal address only. A host name is resolved at each connection, and its addresses are checked
 * then.
 */
function checkServer(url: string, { allowPrivateAddresses }: NatsReading): void {
  const server = serverOf(url)
  if (!server) throw refusal('"url" must be a nats or tls URL, such as nats://HOST:4222', '/url')
  const { username, password } = new URL(url)
  if (username !== '' || password !== '') {
    throw refusal('"url" must hold no user name and no password; "credentials" does', '/url')
  }
  if (server.address !== undefined && !allowPrivateAddresses && isPrivateAddress(server.address)) {
    const way = 'events.allowPrivateAddresses allows them'
    throw refusal(`"url" leads to a private, loopback or link-local address; ${way}`, '/url')
  }
}

const SUBJECT = /^[^\s\p{C}.*>]+(?:\.[^\s\p{C}.*>]+)*$/u
/**
 * Subjects with these prefixes are the server's own API: permission to publish there is permission to manage
 * the server.
 */
const SERVERS_OWN = /^(?:\$|_)/
const LONGEST_SUBJECT = 200

function isSubject(subject: string): boolean {
  return subject.length <= LONGEST_SUBJECT && SUBJECT.test(subject) && !SERVERS_OWN.test(subject)
}

/**
 * A client sends its password to the server it connects to, so credentials given for one URL are never reused
 * for another.
 */
function readCredentials(body: JsonObject, { replaced }: NatsReading): NatsCredentials | undefined {
  const given = body['credentials'] as JsonObject | undefined
  if (given) return checkedCredentials(given)
  if (replaced?.credentials && replaced.url !== body['url']) {
    throw refusal('"credentials" must be given again when "url" changes', '/credentials')
  }
  return replaced?.credentials
}

const WAYS: readonly (readonly string[])[] = [['user', 'password'], ['token'], ['nkey'], ['creds']]

/** Undefined without members: the server requires no authentication. */
function checkedCredentials(given: JsonObject): NatsCredentials | undefined {
  const names = Object.keys(given)
  if (names.length === 0) return undefined
  const isWay = WAYS.some((way) => way.length === names.length && way.every((name) => names.includes(name)))
  if (!isWay)
    throw refusal('"credentials" must hold user and password, or token, nkey or creds', '/credentials')
  for (const name of names) {
    const problem = problemWith(name, given[name] as string)
    if (problem !== undefined) throw refusal(`"${name}" ${problem}`, `/credentials/${name}`)
  }
  return given as unknown as NatsCredentials
}

const SEED = /^SU[A-Z2-7]{56}$/
const CREDS = /-BEGIN NATS USER JWT-[^]*-BEGIN USER NKEY SEED-/

function problemWith(name: string, value: string): string | undefined {
  if (name === 'nkey' && !SEED.test(value)) return 'must be the seed of a user: SU and 56 letters and digits'
  if (name === 'creds' && !CREDS.test(value)) return 'must be the content of a file of NATS credentials'
  return value === '' ? 'must not be empty' : undefined
}

/** All members, with secrets masked. */
export function showCredentials(credentials: NatsCredentials): JsonObject {
  const shown = Object.entries(credentials).map(([name, value]) => [name, name === 'user' ? value : '***'])
  return Object.fromEntries(shown) as JsonObject
}
