/**
 * The schema of all settings. The file is validated by it, variable names derive from it, and editors use it
 * for completion.
 */
import { PERMISSIONS } from '../../access/caller.ts'
import { JWT_ALGORITHMS } from '../../auth/settings.ts'
import { type JsonObject, isObject } from '../../base/json/json.ts'
import { DEFAULT_LIMITS } from '../../base/limits.ts'
import { type Shape, Type } from '../../base/json/shape.ts'
import { COMPATIBILITIES } from '../../http/compatibility.ts'
import { LOG_LEVELS } from '../../http/observe/log.ts'
import { SINK_KIND_MEMBERS, SINK_KIND_NAMES } from '../../service/sinks/sink-settings.ts'

export const MODES = ['open', 'tokens', 'jwt', 'proxy'] as const
export type ModeName = (typeof MODES)[number]

const MAX_LIMIT = 2 ** 40

/** A secret as text, or the name of a variable or file that contains it. */
const SECRET = Type.Union([
  Type.String(),
  section({ env: Type.String({ description: 'Variable that holds it.' }) }),
  section({ file: Type.String({ description: 'File that holds it.' }) }),
])

const TEXTS = Type.Array(Type.String())

export const SETTINGS: Shape = section({
  $schema: text('Address of this schema, for editors.'),
  host: text('Address to listen on.'),
  port: whole('Port to listen on; 0 picks a free one.', 0, 65_535),
  data: text('Directory that the data is kept in.'),
  store: secret('Where the data is kept instead: sqlite:DIRECTORY or postgres://...'),
  datasources: Type.Optional(
    Type.Object(
      {},
      { additionalProperties: SECRET, description: 'Further places for documents: name to location.' },
    ),
  ),
  workers: whole('Processes that share the port, with PostgreSQL only.', 1, 64),
  compatibility: choice('The service as which it answers where clients notice.', COMPATIBILITIES),
  logLevel: choice('The least that is logged.', LOG_LEVELS),
  limits: optionalSection(
    Object.fromEntries(
      Object.keys(DEFAULT_LIMITS).map((name) => [
        name,
        whole('A limit; see the documentation.', 1, MAX_LIMIT),
      ]),
    ),
  ),
  auth: optionalSection({
    modes: Type.Optional(
      Type.Array(Type.Enum(MODES), { description: 'Absent: those described here; open if there are none.' }),
    ),
    tokens: optionalSection({ file: text('File of tokens; tokens.json in the data directory.') }),
    jwt: optionalSection(jwt()),
    proxy: optionalSection(proxy()),
    certificates: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: TEXTS,
          description:
            'Roles of client certificates: a part of the subject, such as CN=ann,O=Example, to its roles.',
        },
      ),
    ),
  }),
  permissions: optionalSection(
    Object.fromEntries(PERMISSIONS.map((name) => [name, texts('Roles that have this permission.')])),
  ),
  events: optionalSection({
    keepDays: whole('Events older than so many days are not kept.', 1, 36_500),
    keepCount: whole('At most so many events are kept.', 1, MAX_LIMIT),
    abandonDays: whole('A disabled sink holds back no events that are older than so many days.', 1, 36_500),
    allowPrivateAddresses: Type.Optional(
      Type.Boolean({
        description: 'Whether events may be sent to private, loopback and link-local addresses.',
      }),
    ),
    sinks: Type.Optional(
      Type.Array(section(sink()), {
        description: 'Sinks that are there from the start, and changed here only.',
      }),
    ),
  }),
  backup: optionalSection({
    directory: text('Directory for backups that the service makes; it makes none when absent.'),
    every: text('Time between two backups, such as 6h or 1d; only on request when absent.'),
    keep: whole('How many backups of each datasource are kept; 7 when absent.', 1, 10_000),
  }),
  rateLimit: optionalSection({
    perSecond: whole('Requests a second of one caller.', 1, 1_000_000),
    burst: whole('Requests at once after a pause; as many as perSecond when absent.', 1, 1_000_000),
  }),
  cors: optionalSection({ origins: texts('Origins whose pages may ask, such as https://app.example.com.') }),
  metrics: choice('Who may read /metrics.', ['authenticated', 'public']),
  ui: optionalSection({
    enabled: Type.Optional(Type.Boolean({ description: 'Whether the page is served at /ui.' })),
    oidc: optionalSection({
      issuer: text('Issuer at which users of the page sign in; the one of auth.jwt when absent.'),
      clientId: text('Name of the page at the issuer: a public client with PKCE.'),
      scope: text('Scopes by spaces; openid when absent.'),
    }),
  }),
  tls: optionalSection({
    cert: text('File of the certificate, PEM.'),
    key: text('File of its key, PEM.'),
    ca: text('File of those who vouch for client certificates, PEM.'),
  }),
})

/** The output of `smalt config schema`. */
export function settingsSchema(): JsonObject {
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'smalt.json', ...SETTINGS }
}

function jwt(): Readonly<Record<string, Shape>> {
  return {
    issuer: text('The claim iss; also where discovery begins, unless jwksUrl or jwksFile is given.'),
    audience: texts('The claim aud must hold one of these.'),
    jwksUrl: text('Where the keys are, over https.'),
    jwksFile: text('File that holds the keys.'),
    algorithms: Type.Optional(Type.Array(Type.Enum(JWT_ALGORITHMS), { minItems: 1 })),
    leewaySeconds: whole('How far clocks may differ.', 0, 300),
    rolesClaim: texts('Names from the top of the claims down to the roles; one text is split at its dots.'),
    principalClaim: text('The claim that names the caller.'),
    cooldownSeconds: whole('Keys are fetched again at most so often.', 1, 86_400),
  }
}

function proxy(): Readonly<Record<string, Shape>> {
  return {
    secret: secret('What the proxy shows to be believed.'),
    addresses: texts('Addresses and networks of the proxy, such as 10.0.0.0/8.'),
    hosts: texts('Names in Host that a proxy on this machine, trusted by its address, may send.'),
    headers: optionalSection({
      secret: text('Header that carries the secret.'),
      principal: text('Header that names the caller.'),
      roles: text('Header that lists roles by comma.'),
      claims: text('Header that holds claims as a JSON object.'),
      certificate: text('Header that holds the subject of the client certificate.'),
    }),
  }
}

function sink(): Readonly<Record<string, Shape>> {
  return {
    name: Type.String({ description: 'What the sink is called.' }),
    kind: choice(`${SINK_KIND_NAMES[0]} when absent.`, SINK_KIND_NAMES),
    url: Type.String({ description: 'Where events are sent to.' }),
    ...settingMembers(SINK_KIND_MEMBERS),
    roles: Type.Array(Type.String(), { description: 'It sees what a caller with these would.' }),
    filter: optionalSection({
      entity: text('Events of this entity only.'),
      hook: text('Events of hooks of this name only.'),
      operation: choice('Events of this operation only.', ['insert', 'update', 'delete']),
    }),
    datasource: text('Whose events; those of the entity, else of the default one, when absent.'),
  }
}

/** Turns the members of a request into settings, where a secret may also come from a variable or file. */
function settingMembers(members: Readonly<Record<string, Shape>>): Readonly<Record<string, Shape>> {
  const settings = Object.entries(members).map(([name, shape]) => {
    const { properties, writeOnly, description } = shape
    if (isObject(properties))
      return [name, optionalSection(settingMembers(properties as Readonly<Record<string, Shape>>))]
    return [name, writeOnly === true ? secret(description as string) : Type.Optional(shape)]
  })
  return Object.fromEntries(settings) as Readonly<Record<string, Shape>>
}

function section(properties: Readonly<Record<string, Shape>>): Shape {
  return Type.Object(properties, { additionalProperties: false })
}

function optionalSection(properties: Readonly<Record<string, Shape>>): Shape {
  return Type.Optional(section(properties))
}

function text(description: string): Shape {
  return Type.Optional(Type.String({ description }))
}

/** A single text is accepted as a list of one. */
function texts(description: string): Shape {
  return Type.Optional(Type.Union([TEXTS, Type.String()], { description }))
}

function secret(description: string): Shape {
  return Type.Optional({ ...SECRET, description })
}

function whole(description: string, minimum: number, maximum: number): Shape {
  return Type.Optional(Type.Integer({ minimum, maximum, description }))
}

function choice(description: string, values: readonly string[]): Shape {
  return Type.Optional(Type.Enum(values, { description }))
}
