import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { maskLocation } from '../../../src/base/location.ts'
import { limitVariable, readConfig } from '../../../src/cli/config/config.ts'
import { ConfigError } from '../../../src/cli/config/config-error.ts'
import type { Flags } from '../../../src/cli/config/flags.ts'
import type { Environment } from '../../../src/cli/config/settings.ts'
import { suggestion } from '../../../src/base/suggest.ts'

const DEFAULTS = {
  host: '127.0.0.1',
  port: 8080,
  datasources: [{ name: 'default', location: 'sqlite:./data' }],
  workers: 1,
  logLevel: 'info',
  limits: DEFAULT_LIMITS,
}

const PG = 'postgres://me:secret@db.example/smalt'

function stores(store: string, more: Readonly<Record<string, string>> = {}) {
  return Object.entries({ default: store, ...more }).map(([name, location]) => ({ name, location }))
}

const CASES: readonly [rule: string, flags: Flags, environment: Environment, expected: object][] = [
  ['nothing said gives the defaults', {}, {}, {}],
  [
    'the environment wins over the defaults',
    {},
    { SMALT_PORT: '1', SMALT_HOST: 'localhost', SMALT_DATA: '/d', SMALT_LOG_LEVEL: 'warn' },
    { port: 1, host: 'localhost', datasources: stores('sqlite:/d'), logLevel: 'warn' },
  ],
  [
    'flags win over the environment',
    { port: '2', host: '::1', data: '/e', 'log-level': 'debug' },
    { SMALT_PORT: '1', SMALT_HOST: 'localhost', SMALT_DATA: '/d', SMALT_LOG_LEVEL: 'warn' },
    { port: 2, host: '::1', datasources: stores('sqlite:/e'), logLevel: 'debug' },
  ],
  ['a store is named by its location', { store: PG }, {}, { datasources: stores(PG) }],
  ['a store may be a directory', { store: 'sqlite:/d' }, {}, { datasources: stores('sqlite:/d') }],
  [
    'a store in the environment wins over its directory',
    {},
    { SMALT_STORE: PG, SMALT_DATA: '/d' },
    { datasources: stores(PG) },
  ],
  [
    '--data wins over a store in the environment',
    { data: '/d' },
    { SMALT_STORE: PG },
    { datasources: stores('sqlite:/d') },
  ],
  [
    'datasources follow the store',
    { datasource: ['a=sqlite:/a', `b-2=${PG}?x=1`] },
    { SMALT_DATASOURCES: 'c=sqlite:/c' },
    { datasources: stores('sqlite:./data', { a: 'sqlite:/a', 'b-2': `${PG}?x=1` }) },
  ],
  [
    'datasources in the environment stand between commas or spaces',
    {},
    { SMALT_DATASOURCES: ` a=sqlite:/a, b=${PG}  c=sqlite:/c ` },
    { datasources: stores('sqlite:./data', { a: 'sqlite:/a', b: PG, c: 'sqlite:/c' }) },
  ],
  [
    'PostgreSQL takes several workers',
    { store: PG, workers: '4' },
    {},
    { datasources: stores(PG), workers: 4 },
  ],
  ['one worker suits every store', {}, { SMALT_WORKERS: '1' }, {}],
  ['variables of the tests are let be', {}, { SMALT_TEST_POSTGRES: PG, SMALT_SEED: '1' }, {}],
  ['port 0 is allowed', { port: '0' }, {}, { port: 0 }],
  [
    'each limit has a variable',
    {},
    { SMALT_LIMITS_BODY_BYTES: '5', SMALT_LIMITS_QUERY_TIME_MS: '6' },
    { limits: { ...DEFAULT_LIMITS, bodyBytes: 5, queryTimeMs: 6 } },
  ],
]
for (const [rule, flags, environment, expected] of CASES) {
  test(`config: ${rule}`, () => {
    const { host, port, datasources, workers, logLevel, limits } = readConfig(flags, environment)
    assert.deepEqual({ host, port, datasources, workers, logLevel, limits }, { ...DEFAULTS, ...expected })
  })
}

const REFUSED: readonly [flags: Flags, environment: Environment, message: RegExp][] = [
  [{ port: 'x' }, {}, /^--port must be a whole number from 0 to 65535, not "x"$/],
  [{ port: '65536' }, {}, /--port/],
  [{ port: '-1' }, {}, /--port/],
  [{}, { SMALT_PORT: '1.5' }, /^SMALT_PORT must be/],
  [
    { 'log-level': 'loud' },
    {},
    /^--log-level must be one of trace, debug, info, warn, error, fatal, silent, not "loud"$/,
  ],
  [{ data: '' }, {}, /^--data must not be empty$/],
  [{ store: 'mysql://me:secret@h/d' }, {}, /^--store must be sqlite:DIRECTORY or postgres:\/\/USER/],
  [{ store: 'sqlite:' }, {}, /^--store must be/],
  [{ store: 'sqlite://data' }, {}, /^--store must be/],
  [{}, { SMALT_STORE: 'postgres://me:secret@[h/d' }, /^SMALT_STORE must be/],
  [{ store: PG, data: '/d' }, {}, /^--data and --store both/],
  [{ datasource: ['sqlite:/a'] }, {}, /^--datasource must be NAME=LOCATION/],
  [{ datasource: ['a=b=secret'] }, {}, /^--datasource: the location of a must be/],
  [{ datasource: ['a=sqlite:/a', 'a=sqlite:/b'] }, {}, /^--datasource names the datasource a twice$/],
  [
    {},
    { SMALT_DATASOURCES: 'default=sqlite:/a' },
    /^SMALT_DATASOURCES names the datasource default twice: that/,
  ],
  [{ store: PG, workers: '65' }, {}, /^--workers must be a whole number from 1 to 64/],
  [{ workers: '2' }, {}, /^--workers must be 1 while the datasource default is SQLite/],
  [
    { store: PG, datasource: ['a=sqlite:/a'] },
    { SMALT_WORKERS: '2' },
    /^SMALT_WORKERS [^]* datasource a is SQLite/,
  ],
  [{}, { SMALT_LIMITS_NESTING: '0' }, /^SMALT_LIMITS_NESTING must be a whole number from 1/],
  [
    {},
    { SMALT_LIMITS_NESTNG: '5' },
    /^SMALT_LIMITS_NESTNG sets nothing; did you mean SMALT_LIMITS_NESTING\?$/,
  ],
  [{}, { SMALT_PROT: '5' }, /^SMALT_PROT sets nothing; did you mean SMALT_PORT\?$/],
  [{}, { SMALT_AUTH_MODES: 'tokens' }, /^SMALT_AUTH_MODES sets nothing; did you mean SMALT_AUTH\?$/],
  [{}, { SMALT_UTTERLY_OTHER: '' }, /^SMALT_UTTERLY_OTHER sets nothing; "smalt config schema" lists/],
]
for (const [flags, environment, message] of REFUSED) {
  test(`config: ${JSON.stringify({ ...flags, ...environment })} is refused by name`, () => {
    assert.throws(
      () => readConfig(flags, environment),
      (error) =>
        error instanceof ConfigError && message.test(error.message) && !error.message.includes('secret'),
    )
  })
}

const MASKS: readonly [location: string, shown: string][] = [
  ['sqlite:/a:b@c', 'sqlite:/a:b@c'],
  ['postgres://host/d', 'postgres://host/d'],
  ['postgres://me@host/d', 'postgres://me@host/d'],
  ['postgres://me:secret@host:5432/d', 'postgres://me:***@host:5432/d'],
  ['postgresql://me:secret@host/d?sslmode=require', 'postgresql://me:***@host/d?sslmode=require'],
  ['postgres://me:sec:r@e/t@host/d', 'postgres://me:***@host/d'],
  ['postgres://:secret@host/d', 'postgres://:***@host/d'],
  ['postgres://host/d?user=me&password=secret&x=1', 'postgres://host/d?user=me&password=***&x=1'],
  ['postgres://me:secret@/d?host=/run', 'postgres://me:***@/d?host=/run'],
]
for (const [location, shown] of MASKS) {
  test(`config: ${location} is shown as ${shown}`, () => assert.equal(maskLocation(location), shown))
}

test('config: names of variables follow the names of limits', () => {
  assert.equal(limitVariable('bodyBytes'), 'SMALT_LIMITS_BODY_BYTES')
  assert.equal(limitVariable('nesting'), 'SMALT_LIMITS_NESTING')
})

test('suggestion: near words are suggested, far ones not', () => {
  assert.equal(suggestion('confg', ['serve', 'config']), 'config')
  assert.equal(suggestion('--prot', ['--port', '--host']), '--port')
  assert.equal(suggestion('strat', ['stirrt', 'start']), 'start')
  assert.equal(suggestion('form', ['from', 'for']), 'from')
  assert.equal(suggestion('RATELIMTI', ['rateLimit']), 'rateLimit')
  assert.equal(suggestion('lnt', ['lint', 'ap']), 'lint')
  assert.equal(suggestion('tcsh', ['bash', 'zsh', 'fish']), undefined)
  assert.equal(suggestion('xyzzy', ['serve', 'config']), undefined)
})

test('config: compatibility comes from flag, variable or file, and allows HTTP Basic for tokens', () => {
  const of = (flags: Flags, environment: Environment) => {
    const { compatibility, auth } = readConfig(flags, environment)
    return [compatibility, auth.tokens?.acceptsBasic]
  }
  assert.deepEqual(of({ auth: 'tokens' }, {}), [undefined, false])
  assert.deepEqual(of({ auth: 'tokens', compatibility: 'lightblue' }, {}), ['lightblue', true])
  assert.deepEqual(of({ auth: 'tokens' }, { SMALT_COMPATIBILITY: 'lightblue' }), ['lightblue', true])
  assert.throws(() => of({ compatibility: 'lightred' }, {}), /--compatibility must be .*lightblue/)
})
