import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { compileShape } from '../../../src/base/json/shape.ts'
import type { Json } from '../../../src/base/json/json.ts'
import { ConfigError } from '../../../src/cli/config/config-error.ts'
import { type Config, readConfig } from '../../../src/cli/config/config.ts'
import type { Flags } from '../../../src/cli/config/flags.ts'
import { SETTINGS, settingsSchema } from '../../../src/cli/config/setting-shapes.ts'
import { type Environment, variableFor } from '../../../src/cli/config/settings.ts'
import { blocksOf } from '../../process/docs/page.ts'

const folder = mkdtempSync(join(tmpdir(), 'smalt-config-'))
after(() => rmSync(folder, { recursive: true, force: true }))

let files = 0

/** A file of its own for each, so that none is left for the next. */
function written(content: Json | string): string {
  const file = join(folder, `${files++}.json`)
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

function read(content: Json | string, flags: Flags = {}, environment: Environment = {}): Config {
  return readConfig({ ...flags, config: written(content) }, environment, folder)
}

test('config file: smalt.json of the working directory is read, another one when it is named', () => {
  const home = mkdtempSync(join(folder, 'home-'))
  assert.equal(readConfig({}, {}, home).port, 8080)
  writeFileSync(join(home, 'smalt.json'), '{"port":1}')
  assert.equal(readConfig({}, {}, home).port, 1)
  assert.equal(readConfig({}, { SMALT_CONFIG: written({ port: 2 }) }, home).port, 2)
  assert.equal(readConfig({ config: written({ port: 3 }) }, { SMALT_CONFIG: 'nowhere' }, home).port, 3)
  assert.throws(() => readConfig({ config: join(home, 'none.json') }, {}, home), /none\.json cannot be read/)
})

test('config file: flags win over the environment, that over the file, that over the defaults', () => {
  const file = { port: 1, host: 'localhost', logLevel: 'warn', limits: { nesting: 5, inValues: 6 } }
  const environment = { SMALT_PORT: '2', SMALT_LOG_LEVEL: 'error', SMALT_LIMITS_NESTING: '7' }
  const { port, host, logLevel, limits, workers, sources } = read(file, { port: '3' }, environment)
  assert.deepEqual([port, host, logLevel, workers], [3, 'localhost', 'error', 1])
  assert.deepEqual([limits.nesting, limits.inValues, limits.queryNodes], [7, 6, 1_000])
  assert.equal(sources['port'], '--port')
  assert.equal(sources['logLevel'], 'SMALT_LOG_LEVEL')
  assert.match(sources['host']!, /\.json: \/host$/)
  assert.equal(sources['workers'], undefined)
})

test('config file: where the data is, the stronger of data and store decides', () => {
  const store = (config: Config) => config.datasources[0]!.location
  assert.equal(store(read({ data: '/d' })), 'sqlite:/d')
  assert.equal(store(read({ store: 'sqlite:/s' }, {}, { SMALT_DATA: '/d' })), 'sqlite:/d')
  assert.equal(store(read({ data: '/d' }, {}, { SMALT_STORE: 'sqlite:/s' })), 'sqlite:/s')
  assert.equal(store(read({ store: 'sqlite:/s' }, { data: '/d' })), 'sqlite:/d')
  assert.throws(() => read({ store: 'sqlite:/s', data: '/d' }), /both say where the data is/)
})

test('config file: datasources stand by name', () => {
  const { datasources } = read({ datasources: { a: 'sqlite:/a', b: { env: 'B' } } }, {}, { B: 'sqlite:/b' })
  assert.deepEqual(datasources.slice(1), [
    { name: 'a', location: 'sqlite:/a' },
    { name: 'b', location: 'sqlite:/b' },
  ])
})

const JWT = { issuer: 'https://id.example', audience: 'smalt' }
const PROXY = { secret: 'sixteen letters!', headers: { principal: 'X-User' } }

test('config file: secrets may come from variables and files', () => {
  const secret = (value: Json, environment: Environment = {}) =>
    read({ auth: { proxy: { ...PROXY, secret: value } } }, {}, environment).auth.proxy?.secret
  assert.equal(secret('written sixteen let'), 'written sixteen let')
  assert.equal(secret({ env: 'HUSH' }, { HUSH: 'from the variable' }), 'from the variable')
  assert.equal(secret({ file: written('from the very file\n') }), 'from the very file')
  assert.equal(secret({ env: 'SMALT_HUSH' }, { SMALT_HUSH: 'from the variable' }), 'from the variable')
  assert.throws(() => secret({ env: 'SMALT_HUSH' }, { SMALT_HSH: 'x' }), /SMALT_HSH sets nothing/)
  assert.throws(() => secret({ env: 'HUSH' }), /\/auth\/proxy\/secret: the variable HUSH is not set/)
  assert.throws(() => secret({ file: join(folder, 'none') }), /\/auth\/proxy\/secret cannot be read/)
})

const MODES: readonly [
  rule: string,
  file: Json,
  flags: Flags,
  environment: Environment,
  on: readonly string[],
][] = [
  ['nothing said means open', {}, {}, {}, ['open']],
  ['what is described is on', { auth: { tokens: {} } }, {}, {}, ['tokens']],
  ['what is named is on', { auth: { modes: ['open', 'tokens'] } }, {}, {}, ['open', 'tokens']],
  ['what is not named is off', { auth: { modes: ['open'], tokens: {}, proxy: PROXY } }, {}, {}, ['open']],
  ['several are on at once', { auth: { tokens: {}, proxy: PROXY } }, {}, {}, ['tokens', 'proxy']],
  ['the flag wins', { auth: { modes: ['open'] } }, { auth: 'tokens' }, { SMALT_AUTH: 'open' }, ['tokens']],
  [
    'the variable wins over the file',
    { auth: { tokens: {} } },
    {},
    { SMALT_AUTH: 'open,tokens' },
    ['open', 'tokens'],
  ],
  [
    'variables alone describe one',
    {},
    {},
    { SMALT_AUTH_JWT_ISSUER: 'https://id.example', SMALT_AUTH_JWT_AUDIENCE: 'smalt' },
    ['jwt'],
  ],
  ['client certificates suffice', { tls: { cert: 'c', key: 'k', ca: 'a' } }, {}, {}, ['certificates']],
]
for (const [rule, file, flags, environment, on] of MODES) {
  test(`config file: modes of authentication: ${rule}`, () => {
    const { auth } = read(file, flags, environment)
    const { isOpen, tokens, jwt, proxy, hasCertificates } = auth
    const found = { open: isOpen, tokens, jwt, proxy, certificates: hasCertificates }
    assert.deepEqual(
      Object.entries(found).flatMap(([name, value]) => (value ? [name] : [])),
      on,
    )
  })
}

test('config file: what is not said about jwt has its defaults', () => {
  const { jwt } = read({ auth: { jwt: { issuer: 'https://id.example', audience: 'smalt' } } }).auth
  assert.deepEqual(jwt, {
    issuer: 'https://id.example',
    audience: ['smalt'],
    algorithms: ['RS256', 'ES256', 'PS256', 'EdDSA'],
    leewaySeconds: 30,
    rolesClaim: ['roles'],
    principalClaim: 'sub',
    cooldownSeconds: 30,
  })
})

const ROLES_CLAIMS: readonly [given: Json, path: readonly string[]][] = [
  ['realm_access.roles', ['realm_access', 'roles']],
  [['https://example.com/roles'], ['https://example.com/roles']],
  [
    ['resource_access', 'smalt.example', 'roles'],
    ['resource_access', 'smalt.example', 'roles'],
  ],
]
for (const [given, path] of ROLES_CLAIMS) {
  test(`config file: the claim of roles ${JSON.stringify(given)} is ${path.join(', then ')}`, () => {
    assert.deepEqual(read({ auth: { jwt: { ...JWT, rolesClaim: given } } }).auth.jwt?.rolesClaim, path)
  })
}

test('config: a variable with the claim of roles is split at its dots', () => {
  const { jwt } = read({ auth: { jwt: JWT } }, {}, { SMALT_AUTH_JWT_ROLES_CLAIM: 'realm_access.roles' }).auth
  assert.deepEqual(jwt?.rolesClaim, ['realm_access', 'roles'])
})

test('config file: all of it is understood', () => {
  const { auth, rateLimit, metrics, tls, tokensFile } = read({
    $schema: './schema.json',
    data: '/d',
    auth: {
      tokens: {},
      jwt: { issuer: 'x', audience: ['a', 'b'], jwksFile: 'keys.json', rolesClaim: 'realm_access.roles' },
      proxy: { ...PROXY, addresses: ['10.0.0.0/8', 'fd00::/8', '::1'] },
    },
    permissions: { 'metadata.find': ['admin', 'reader'], 'metadata.delete': 'admin' },
    rateLimit: { perSecond: 10 },
    cors: { origins: ['https://app.example'] },
    metrics: 'public',
    tls: { cert: 'c.pem', key: 'k.pem' },
  })
  assert.deepEqual(auth.tokens, { file: '/d/tokens.json', acceptsBasic: false })
  assert.equal(tokensFile, '/d/tokens.json')
  assert.deepEqual(auth.jwt?.rolesClaim, ['realm_access', 'roles'])
  assert.deepEqual(auth.proxy?.headers, { secret: 'smalt-proxy-secret', principal: 'x-user' })
  assert.deepEqual(auth.permissions, { 'metadata.find': ['admin', 'reader'], 'metadata.delete': ['admin'] })
  assert.deepEqual(auth.origins, ['https://app.example'])
  assert.deepEqual(rateLimit, { perSecond: 10, burst: 10 })
  assert.equal(metrics, 'public')
  assert.deepEqual(tls, { cert: 'c.pem', key: 'k.pem', ca: undefined })
})

test('config file: users of the page sign in at the issuer of the tokens', () => {
  const { oidc } = read({ auth: { jwt: JWT }, ui: { oidc: { clientId: 'page' } } })
  assert.deepEqual(oidc, { issuer: JWT.issuer, clientId: 'page', scope: 'openid' })
  assert.equal(read({ auth: { jwt: JWT } }).oidc, undefined)
})

test('config file: events are kept for a week, a million of them, unless it says otherwise', () => {
  const usual = {
    keepDays: 7,
    keepCount: 1_000_000,
    abandonDays: 30,
    allowPrivateAddresses: false,
    sinks: [],
  }
  assert.deepEqual(read({}).events, usual)
  assert.deepEqual(read({ events: { keepDays: 3 } }).events, { ...usual, keepDays: 3 })
  assert.deepEqual(read({ events: { keepCount: 5 } }).events, { ...usual, keepCount: 5 })
  assert.equal(variableFor('events.keepDays'), 'SMALT_EVENTS_KEEP_DAYS')
})

test('config file: private addresses are allowed by the setting and by its variable', () => {
  const allowed = (file: Json, environment: Environment = {}) =>
    read(file, {}, environment).events.allowPrivateAddresses
  assert.equal(allowed({ events: { allowPrivateAddresses: true } }), true)
  assert.equal(allowed({}, { SMALT_EVENTS_ALLOW_PRIVATE: 'true' }), true)
  assert.equal(
    allowed({ events: { allowPrivateAddresses: true } }, { SMALT_EVENTS_ALLOW_PRIVATE: 'false' }),
    false,
  )
  assert.throws(() => read({}, {}, { SMALT_EVENTS_ALLOW_PRIVATE: 'yes' }), /must be true or false, not "yes"/)
  assert.throws(
    () => read({}, {}, { SMALT_EVENTS_ALLOW_PRIVATE_ADDRESSES: 'true' }),
    /did you mean SMALT_EVENTS_ALLOW_PRIVATE\?/,
  )
})

const SINK = { name: 'kitchen', url: 'https://kitchen.example.com/', roles: ['cook'] }
const SIGNED_WITH = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

test('config file: sinks stand in it, with their secrets from elsewhere', () => {
  const given = { ...SINK, secret: { env: 'KITCHEN_SECRET' }, filter: { entity: 'sandwich' } }
  const { events } = read({ events: { sinks: [given] } }, {}, { KITCHEN_SECRET: SIGNED_WITH })
  const definition = { ...SINK, kind: 'webhook', secret: SIGNED_WITH, filter: { entity: 'sandwich' } }
  assert.deepEqual(events.sinks, [{ definition }])
})

const REFUSED: readonly [file: Json | string, message: RegExp][] = [
  [{ prot: 1 }, /there is no setting \/prot; did you mean \/port\?$/],
  [{ auth: { token: {} } }, /there is no setting \/auth\/token; did you mean \/auth\/tokens\?$/],
  [
    { auth: { jwt: { isuer: 'x' } } },
    /there is no setting \/auth\/jwt\/isuer; did you mean \/auth\/jwt\/issuer/,
  ],
  [{ 'a/b~c': 1 }, /there is no setting \/a~1b~0c; there are host, port, /],
  [{ permissions: { 'metadata.read': ['x'] } }, /no setting \/permissions\/metadata\.read; did you mean/],
  [{ events: { keepDays: 0 } }, /: \/events\/keepDays must be a whole number from 1 to /],
  [{ events: { sinks: [SINK] } }, /: \/events\/sinks\/0: "secret" must be/],
  [{ events: { sinks: [{ ...SINK, secret: 'short' }] } }, /: \/events\/sinks\/0: "secret" must be/],
  [{ events: { sinks: [{ ...SINK, url: 'http://10.0.0.1/' }] } }, /\/0: "url" leads to a private/],
  [{ events: { sinks: [{ ...SINK, rols: [] }] } }, /no setting \/events\/sinks\/0\/rols; did you mean/],
  [
    {
      events: {
        sinks: [
          { ...SINK, secret: SIGNED_WITH },
          { ...SINK, secret: SIGNED_WITH },
        ],
      },
    },
    /names the sink kitchen twice$/,
  ],
  [
    { events: { sinks: [{ ...SINK, secret: SIGNED_WITH, datasource: 'x' }] } },
    /\/events\/sinks\/0\/datasource: there is no such datasource$/,
  ],
  [{ port: '1' }, /: \/port must be a whole number from 0 to 65535$/],
  [{ port: 65_536 }, /: \/port must be a whole number from 0 to 65535$/],
  [{ port: 1.5 }, /: \/port must be/],
  [{ logLevel: 'loud' }, /: \/logLevel must be one of trace, /],
  [{ host: null }, /: \/host must be a text$/],
  [{ host: '' }, /\/host must not be empty$/],
  [{ auth: { modes: ['opn'] } }, /: \/auth\/modes\/0 must be one of open, tokens, jwt, proxy$/],
  [{ auth: { modes: [] } }, /\/auth\/modes must name one of/],
  [{ auth: [] }, /: \/auth must be an object$/],
  [{ auth: { modes: ['jwt'] } }, /^auth\.jwt needs both issuer and audience/],
  [{ auth: { jwt: { issuer: 'https://x' } } }, /^auth\.jwt needs both issuer and audience/],
  [
    { auth: { jwt: { issuer: 'http://x', audience: 'a' } } },
    /\/auth\/jwt\/issuer must be an address with https/,
  ],
  [
    { auth: { jwt: { issuer: 'x', audience: 'a', jwksUrl: 'http://x/' } } },
    /\/auth\/jwt\/jwksUrl must be an address with https/,
  ],
  [
    { auth: { jwt: { issuer: 'x', audience: 'a', jwksUrl: 'https://x', jwksFile: 'f' } } },
    /leave one of them out/,
  ],
  [{ auth: { jwt: { algorithms: ['none'] } } }, /: \/auth\/jwt\/algorithms\/0 must be one of RS256, /],
  [{ auth: { jwt: { algorithms: ['HS256'] } } }, /: \/auth\/jwt\/algorithms\/0 must be one of RS256, /],
  [{ auth: { jwt: { algorithms: [] } } }, /: \/auth\/jwt\/algorithms must be/],
  [{ auth: { proxy: { headers: { principal: 'X' } } } }, /^auth\.proxy needs secret or addresses/],
  [
    { auth: { proxy: { ...PROXY, secret: 'short' } } },
    /\/auth\/proxy\/secret must have at least 16 characters$/,
  ],
  [{ auth: { proxy: { ...PROXY, headers: {} } } }, /^auth\.proxy\.headers needs principal or certificate/],
  [{ auth: { proxy: { ...PROXY, headers: { principal: 'A', roles: 'a' } } } }, /names one header twice/],
  [{ auth: { proxy: { ...PROXY, headers: { principal: 'a b' } } } }, /must be the name of a header/],
  [{ auth: { proxy: { ...PROXY, addresses: ['10.0.0.0/33'] } } }, /10\.0\.0\.0\/33 is no address/],
  [{ auth: { proxy: { ...PROXY, addresses: ['proxy.example'] } } }, /proxy\.example is no address/],
  [{ ui: { oidc: { clientId: 'page' } } }, /^ui\.oidc needs auth\.jwt/],
  [{ auth: { jwt: JWT }, ui: { oidc: { scope: 'openid' } } }, /^ui\.oidc needs clientId/],
  [
    { auth: { jwt: JWT }, ui: { oidc: { clientId: 'page', issuer: 'https://other.example' } } },
    /\/ui\/oidc\/issuer must be the issuer of auth\.jwt, https:\/\/id\.example$/,
  ],
  [
    {
      auth: { jwt: { ...JWT, issuer: 'http://id.example', jwksFile: 'x' } },
      ui: { oidc: { clientId: 'page' } },
    },
    /\/auth\/jwt\/issuer must be an address with https/,
  ],
  [{ cors: { origins: ['*'] } }, /\/cors\/origins: \* is no origin/],
  [{ cors: { origins: ['https://a.example/'] } }, /is no origin such as/],
  [{ cors: { origins: ['https://*.example'] } }, /is no origin such as/],
  [{ rateLimit: { burst: 5 } }, /rateLimit\/burst needs rateLimit\.perSecond$/],
  [{ tls: { cert: 'x' } }, /^tls needs both cert and key$/],
  [{ store: 'mysql://u:secret@h/d' }, /\/store must be sqlite:DIRECTORY or postgres/],
  [{ datasources: { 'a b': 'sqlite:/a' } }, /must be NAME=LOCATION/],
  [{ store: { env: 'A', file: 'B' } }, /: \/store must be a text or an object with the key "env" or /],
  ['{"port":1,"port":2}', /is not sound JSON: /],
  ['{', /is not sound JSON: /],
  ['[]', /must be a JSON object$/],
]
for (const [file, message] of REFUSED) {
  const shown = typeof file === 'string' ? file : JSON.stringify(file)
  test(`config file: ${shown} is refused, with the place`, () => {
    assert.throws(
      () => read(file),
      (error) =>
        error instanceof ConfigError && message.test(error.message) && !error.message.includes('secret@'),
      message.source,
    )
  })
}

test('config file: variables are checked as the file is', () => {
  assert.throws(
    () => read({}, {}, { SMALT_METRICS: 'all' }),
    /SMALT_METRICS must be one of authenticated, public, not "all"$/,
  )
  assert.throws(() => read({}, { auth: 'tokns' }), /--auth: each must be one of open, tokens, jwt, proxy$/)
  const { auth } = read(
    {},
    {},
    { SMALT_PERMISSIONS_METADATA_FIND: 'a, b', SMALT_CORS_ORIGINS: 'https://a.example' },
  )
  assert.deepEqual(auth.permissions, { 'metadata.find': ['a', 'b'] })
  assert.deepEqual(auth.origins, ['https://a.example'])
})

test('config file: names of variables follow the names of settings', () => {
  assert.equal(variableFor('auth.jwt.jwksUrl'), 'SMALT_AUTH_JWT_JWKS_URL')
  assert.equal(variableFor('rateLimit.perSecond'), 'SMALT_RATE_LIMIT_PER_SECOND')
  assert.equal(variableFor('permissions.metadata.find'), 'SMALT_PERMISSIONS_METADATA_FIND')
  assert.equal(variableFor('auth.modes'), 'SMALT_AUTH')
})

const EXAMPLES = ['docs/how-to/authenticate.md', 'docs/reference/configuration.md'].flatMap((page) =>
  blocksOf(page)
    .filter(({ tag, text }) => tag === 'json' && !text.includes('"level"'))
    .map(({ text, line }) => ({ page, text, line })),
)

test('config file: there are examples in the documentation', () => assert.ok(EXAMPLES.length >= 7))

for (const { page, text, line } of EXAMPLES) {
  test(`${page}: the settings at line ${line} can be used`, () => {
    const environment = { PROXY_SECRET: 'sixteen letters!', DATABASE_URL: 'postgres://db.example/smalt' }
    read(text, {}, environment)
  })
}

test('config schema: describes what the file is checked by', () => {
  const { $schema, title, ...shape } = settingsSchema()
  assert.deepEqual([$schema, title], ['https://json-schema.org/draft/2020-12/schema', 'smalt.json'])
  assert.deepEqual(shape, SETTINGS)
  assert.equal(compileShape(shape)({ port: 1 }), true)
  assert.equal(compileShape(shape)({ prot: 1 }), false)
})
