/** What people say of a sink: read and checked once, kept as text, shown without its secret. */
import { type Json, type JsonObject, isObject, parseTrusted } from '../base/json/json.ts'
import { Type, compileShape } from '../base/json/shape.ts'
import type { EventFilter } from '../store/events.ts'
import { hostOf } from './host.ts'
import { isPrivateAddress } from './addresses.ts'
import {
  CredentialsShape,
  type NatsParts,
  type NatsReading,
  readNats,
  showCredentials,
} from './nats/nats-definition.ts'
import { refusal } from './refusal.ts'
import { secretKey } from './signature.ts'

export type SinkDefinition = WebhookDefinition | NatsDefinition
export type SinkKind = SinkDefinition['kind']

interface Common {
  readonly name: string
  readonly url: string
  /** It sees what a caller with these would. */
  readonly roles: readonly string[]
  readonly filter: EventFilter
}

export interface WebhookDefinition extends Common {
  readonly kind: 'webhook'
  readonly secret: string
}

export interface NatsDefinition extends Common, NatsParts {
  readonly kind: 'nats'
}

export interface ReadingOptions {
  /** Those that can be delivered to here. */
  readonly kinds: readonly SinkKind[]
  readonly allowPrivateAddresses: boolean
  /** The one that is replaced: its name cannot change, and its secret stays when no other is given. */
  readonly replaced?: SinkDefinition
}

const text = Type.String()
export const SinkShape = Type.Object(
  {
    name: Type.Optional(text),
    kind: Type.Optional(Type.Enum(['webhook', 'nats'])),
    url: text,
    secret: Type.Optional(text),
    subject: Type.Optional(text),
    credentials: Type.Optional(CredentialsShape),
    roles: Type.Array(text, { maxItems: 100 }),
    filter: Type.Optional(
      Type.Object(
        {
          entity: Type.Optional(text),
          hook: Type.Optional(text),
          operation: Type.Optional(Type.Enum(['insert', 'update', 'delete'])),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
)

export function readDefinition(body: Json | undefined, options: ReadingOptions): SinkDefinition {
  if (!isObject(body)) throw refusal('the body must be a JSON object', '')
  checkShape(body)
  const { url, roles, filter = {}, kind = 'webhook' } = body as unknown as Given
  if (!options.kinds.includes(kind)) {
    throw refusal(`sinks of the kind "${kind}" cannot be delivered to here`, '/kind')
  }
  if (roles.length === 0 || !roles.every((role) => role.trim() !== '')) {
    throw refusal('"roles" must name at least one role, since a sink sees what they may see', '/roles')
  }
  const common = { name: readName(body, options), url, roles: [...new Set(roles)], filter }
  refuseForeign(body, kind)
  if (kind === 'nats') return { ...common, kind, ...readNats(body, natsReading(options)) }
  return { ...common, kind, ...readWebhook(body, options) }
}

interface Given {
  readonly url: string
  readonly roles: readonly string[]
  readonly filter?: EventFilter
  readonly kind?: SinkKind
}

const isPart = new Map(
  Object.entries(SinkShape.properties).map(([name, shape]) => [name, compileShape(shape)]),
)

const EXPECTED: Readonly<Record<string, string>> = {
  name: 'must be a string',
  kind: 'must be "webhook" or "nats"',
  url: 'must be a string: where events are sent to',
  secret: 'must be a string: "whsec_" and 24 to 64 random bytes in base64',
  subject: 'must be a string',
  credentials: 'may hold user and password, or token, nkey or creds (strings)',
  roles: 'must be an array of strings',
  filter: 'may hold entity, hook (strings) and operation ("insert", "update" or "delete")',
}

function checkShape(body: JsonObject): void {
  for (const name of Object.keys(body)) {
    const check = isPart.get(name)
    if (!check) throw refusal(`no sink knows the key "${name}"`, `/${name}`)
    if (!check(body[name]!)) throw refusal(`"${name}" ${EXPECTED[name]}`, `/${name}`)
  }
  for (const name of ['url', 'roles']) {
    if (!Object.hasOwn(body, name)) throw refusal(`"${name}" ${EXPECTED[name]}`, `/${name}`)
  }
}

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

function readName({ name }: JsonObject, { replaced }: ReadingOptions): string {
  if (replaced && (name === undefined || name === replaced.name)) return replaced.name
  if (replaced) throw refusal('the name of a sink cannot be changed', '/name')
  if (typeof name === 'string' && NAME.test(name)) return name
  const rule = 'begins with a letter and has at most 64 letters, digits, "_" and "-"'
  throw refusal(`"name" says what the sink is called: it ${rule}`, '/name')
}

const ONLY: readonly (readonly [kind: SinkKind, name: string, what: string])[] = [
  ['nats', 'subject', 'a subject'],
  ['nats', 'credentials', 'credentials'],
  ['webhook', 'secret', 'a secret'],
]

function refuseForeign(body: JsonObject, kind: SinkKind): void {
  for (const [only, name, what] of ONLY) {
    if (kind === only || !Object.hasOwn(body, name)) continue
    throw refusal(`only sinks of the kind "${only}" have ${what}`, `/${name}`)
  }
}

function natsReading({ allowPrivateAddresses, replaced }: ReadingOptions): NatsReading {
  return { allowPrivateAddresses, replaced: replaced?.kind === 'nats' ? replaced : undefined }
}

function readWebhook(body: JsonObject, options: ReadingOptions): { readonly secret: string } {
  checkUrl(body['url'] as string, options)
  const kept = options.replaced?.kind === 'webhook' ? options.replaced.secret : undefined
  const secret = (body['secret'] as string | undefined) ?? kept
  if (secret === undefined || !secretKey(secret)) throw refusal(`"secret" ${EXPECTED['secret']}`, '/secret')
  return { secret }
}

/** Names are looked up when something is sent; what they lead to then is checked then. */
function checkUrl(url: string, { allowPrivateAddresses }: ReadingOptions): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    throw refusal('"url" must be an absolute http or https URL', '/url')
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw refusal('"url" must hold no user name and no password', '/url')
  }
  const { address } = hostOf(parsed)
  if (address !== undefined && !allowPrivateAddresses && isPrivateAddress(address)) {
    const way = 'events.allowPrivateAddresses allows them'
    throw refusal(`"url" leads to a private, loopback or link-local address; ${way}`, '/url')
  }
}

/** As the store keeps it. */
export function printDefinition(definition: SinkDefinition): string {
  return JSON.stringify(definition)
}

export function parseDefinition(kept: string): SinkDefinition {
  return parseTrusted(kept) as unknown as SinkDefinition
}

/** As people see it who may manage sinks: all but what is secret. */
export function showDefinition(definition: SinkDefinition): JsonObject {
  const { name, kind, url, roles, filter } = definition
  const common = { name, kind, url, roles, filter: { ...filter } }
  if (kind === 'webhook') return { ...common, secret: 'whsec_***' }
  const { subject, credentials } = definition
  return { ...common, subject, ...(credentials && { credentials: showCredentials(credentials) }) }
}
