/** Definitions of sinks: what is taken, what is refused and why, and what is shown. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../../src/base/json/json.ts'
import {
  type ReadingOptions,
  parseDefinition,
  printDefinition,
  readDefinition,
  showDefinition,
} from '../../../src/sinks/definition.ts'
import { SINK_KINDS, type SinkDefinition } from '../../../src/sinks/kinds.ts'
import { SECRET } from '../../service/sinks/servers.ts'

const OPTIONS: ReadingOptions = { kinds: ['webhook'], allowPrivateAddresses: false }
const GIVEN = { name: 'orders', url: 'https://example.com/hook', secret: SECRET, roles: ['clerk', 'clerk'] }

function read(body: Json | undefined, options: Partial<ReadingOptions> = {}): SinkDefinition {
  return readDefinition(body, { ...OPTIONS, ...options })
}

test('definition: a webhook is read, kept and read again', () => {
  const filter = { entity: 'order', hook: 'h', operation: 'update' }
  const definition = read({ ...GIVEN, filter })
  assert.deepEqual(definition, { ...GIVEN, kind: 'webhook', roles: ['clerk'], filter })
  assert.deepEqual(parseDefinition(printDefinition(definition)), definition)
  assert.deepEqual(read({ ...GIVEN, kind: 'webhook' }).filter, {})
})

test('definition: the secret is never shown', () => {
  const shown = showDefinition(read(GIVEN))
  assert.ok(!JSON.stringify(shown).includes(SECRET.slice('whsec_'.length)))
  assert.deepEqual(shown, {
    name: 'orders',
    kind: 'webhook',
    url: GIVEN.url,
    roles: ['clerk'],
    filter: {},
    secret: 'whsec_***',
  })
})

test('definition: replacing keeps the name, and the secret unless another is given', () => {
  const replaced = read(GIVEN)
  const { name: _name, secret: _secret, ...rest } = GIVEN
  assert.deepEqual(read({ ...rest, roles: ['boss'] }, { replaced }), { ...replaced, roles: ['boss'] })
  const other = `whsec_${Buffer.alloc(24, 1).toString('base64')}`
  assert.deepEqual(read({ ...rest, secret: other }, { replaced }), { ...replaced, secret: other })
  assert.throws(() => read({ ...GIVEN, name: 'another' }, { replaced }), /cannot be changed.*\/name/)
  assert.throws(() => read({ ...rest, secret: 'whsec_***' }, { replaced }), /"secret" must be/)
})

const REFUSED: readonly (readonly [what: string, body: Json | undefined, message: RegExp])[] = [
  ['no body', undefined, /JSON object/],
  ['an array', [], /JSON object/],
  ['an unknown key', { ...GIVEN, uri: 'x' }, /no sink knows the key "uri" \(at \/uri\)/],
  ['no name', { url: GIVEN.url, secret: SECRET, roles: ['r'] }, /"name" says/],
  ['a name of two words', { ...GIVEN, name: 'two words' }, /begins with a letter/],
  ['a name that is a path', { ...GIVEN, name: '../x' }, /begins with a letter/],
  ['no url', { name: 'a', secret: SECRET, roles: ['r'] }, /"url" must be a string/],
  ['no roles', { name: 'a', url: GIVEN.url, secret: SECRET }, /"roles" must be an array/],
  ['empty roles', { ...GIVEN, roles: [] }, /at least one role/],
  ['a blank role', { ...GIVEN, roles: ['r', ' '] }, /at least one role/],
  ['numbers as roles', { ...GIVEN, roles: [1] }, /"roles" must be an array of strings/],
  ['a relative url', { ...GIVEN, url: '/hook' }, /absolute http or https/],
  ['a file', { ...GIVEN, url: 'file:///etc/passwd' }, /absolute http or https/],
  ['another protocol', { ...GIVEN, url: 'gopher://example.com/' }, /absolute http or https/],
  ['a password in the url', { ...GIVEN, url: 'https://u:p@example.com/' }, /no user name/],
  ['a user in the url', { ...GIVEN, url: 'https://u@example.com/' }, /no user name/],
  ['loopback', { ...GIVEN, url: 'http://127.0.0.1/' }, /private, loopback/],
  ['loopback in hexadecimal', { ...GIVEN, url: 'http://0x7f000001/' }, /private, loopback/],
  ['mapped loopback', { ...GIVEN, url: 'http://[::ffff:127.0.0.1]/' }, /private, loopback/],
  ['the metadata service of clouds', { ...GIVEN, url: 'http://169.254.169.254/' }, /private, loopback/],
  ['no secret', { name: 'a', url: GIVEN.url, roles: ['r'] }, /"secret" must be/],
  ['a short secret', { ...GIVEN, secret: 'whsec_AAAA' }, /"secret" must be/],
  ['a secret without prefix', { ...GIVEN, secret: SECRET.slice(6) }, /"secret" must be/],
  ['an unknown operation', { ...GIVEN, filter: { operation: 'find' } }, /"filter" may hold/],
  ['an unknown part of the filter', { ...GIVEN, filter: { role: 'x' } }, /"filter" may hold/],
  ['a null filter', { ...GIVEN, filter: null }, /"filter" may hold/],
  ['a subject', { ...GIVEN, subject: 's' }, /only sinks of the kind "nats"/],
  ['credentials', { ...GIVEN, credentials: {} }, /only sinks of the kind "nats" have credentials/],
  ['an unknown kind', { ...GIVEN, kind: 'kafka' }, /"webhook" or "nats"/],
  ['a kind that is not here', { ...GIVEN, kind: 'nats' }, /cannot be delivered to here/],
]

for (const [what, body, message] of REFUSED) {
  test(`definition: ${what} is refused`, () => {
    assert.throws(
      () => read(body),
      (error: Error & { code?: string }) => {
        assert.equal(error.code, 'crud:InvalidRequest')
        assert.match(error.message, message)
        assert.ok(!error.message.includes(SECRET.slice(6)), 'no message repeats a secret')
        return true
      },
    )
  })
}

test('definition: private addresses are taken where they are allowed', () => {
  assert.equal(
    read({ ...GIVEN, url: 'http://127.0.0.1:1/' }, { allowPrivateAddresses: true }).url,
    'http://127.0.0.1:1/',
  )
})

test('definition: NATS has a subject instead of a secret', () => {
  const given = {
    name: 'n',
    kind: 'nats',
    url: 'nats://example.com:4222',
    subject: 'smalt.orders',
    roles: ['r'],
  }
  const kinds = ['webhook', 'nats'] as const
  assert.deepEqual(showDefinition(read(given, { kinds })), { ...given, filter: {} })
  assert.throws(() => read({ ...given, subject: 'a.*' }, { kinds }), /without wildcards/)
  assert.throws(() => read({ ...given, secret: SECRET }, { kinds }), /only sinks of the kind "webhook"/)
  assert.throws(() => read({ ...given, url: 'http://x/' }, { kinds }), /nats or tls/)
})

test('kinds: no two have a member of the same name, because a definition is checked before its kind is known', () => {
  const names = SINK_KINDS.flatMap(({ shape }) => Object.keys(shape))
  assert.deepEqual(names, [...new Set(names)])
  assert.deepEqual(
    names.filter((name) => ['name', 'kind', 'url', 'roles', 'filter'].includes(name)),
    [],
  )
})

test('definition: its stored text keeps the order of members, which configured sinks are compared by', () => {
  const printed = JSON.parse(printDefinition(read(GIVEN)))
  assert.deepEqual(Object.keys(printed), ['name', 'url', 'roles', 'filter', 'kind', 'secret'])
})
