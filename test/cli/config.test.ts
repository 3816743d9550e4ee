import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import { ConfigError, type Environment, type Flags, limitVariable, readConfig } from '../../src/cli/config.ts'
import { suggestion } from '../../src/cli/suggest.ts'

const DEFAULTS = {
  host: '127.0.0.1',
  port: 8080,
  dataDirectory: './data',
  logLevel: 'info',
  limits: DEFAULT_LIMITS,
}

const CASES: readonly [rule: string, flags: Flags, environment: Environment, expected: object][] = [
  ['nothing said gives the defaults', {}, {}, {}],
  [
    'the environment wins over the defaults',
    {},
    { SMALT_PORT: '1', SMALT_HOST: 'localhost', SMALT_DATA: '/d', SMALT_LOG_LEVEL: 'warn' },
    { port: 1, host: 'localhost', dataDirectory: '/d', logLevel: 'warn' },
  ],
  [
    'flags win over the environment',
    { port: '2', host: '::1', data: '/e', 'log-level': 'debug' },
    { SMALT_PORT: '1', SMALT_HOST: 'localhost', SMALT_DATA: '/d', SMALT_LOG_LEVEL: 'warn' },
    { port: 2, host: '::1', dataDirectory: '/e', logLevel: 'debug' },
  ],
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
    assert.deepEqual(readConfig(flags, environment), { ...DEFAULTS, ...expected })
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
  [{}, { SMALT_LIMITS_NESTING: '0' }, /^SMALT_LIMITS_NESTING must be a whole number from 1/],
  [{}, { SMALT_LIMITS_NESTNG: '5' }, /^SMALT_LIMITS_NESTNG sets no limit; there are SMALT_LIMITS_BODY_BYTES/],
]
for (const [flags, environment, message] of REFUSED) {
  test(`config: ${JSON.stringify({ ...flags, ...environment })} is refused by name`, () => {
    assert.throws(
      () => readConfig(flags, environment),
      (error) => error instanceof ConfigError && message.test(error.message),
    )
  })
}

test('config: names of variables follow the names of limits', () => {
  assert.equal(limitVariable('bodyBytes'), 'SMALT_LIMITS_BODY_BYTES')
  assert.equal(limitVariable('nesting'), 'SMALT_LIMITS_NESTING')
})

test('suggestion: near words are suggested, far ones not', () => {
  assert.equal(suggestion('confg', ['serve', 'config']), 'config')
  assert.equal(suggestion('--prot', ['--port', '--host']), '--port')
  assert.equal(suggestion('xyzzy', ['serve', 'config']), undefined)
})
