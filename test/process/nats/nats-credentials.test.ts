/** Who the service is to a NATS server: every way to say it is understood, and what is secret never comes out. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { nkeys } from '@nats-io/transport-node'
import type { NatsCredentials } from '../../../src/sinks/nats/nats-definition.ts'
import { openNats } from '../../../src/sinks/nats/nats.ts'
import type { Answer, Message } from '../../../src/sinks/transport.ts'
import { NEEDS_OWN_NATS, startNats } from '../../support/nats.ts'
import { makeStream, natsTo, ownSubject } from './nats-streams.ts'

const BOUNDED = { timeout: 200_000 }
const PASSWORD = 'p4ss w0rd "quoted"'

async function sendAs(
  url: string,
  credentials: NatsCredentials | undefined,
  subject = ownSubject(),
): Promise<Answer> {
  const definition = natsTo(url, subject, credentials ? { credentials } : {})
  await using nats = openNats(definition, { allowPrivateAddresses: true })
  const message: Message = { id: '1', entity: 'order', operation: 'insert', body: '{}' }
  return await nats.send(message, new AbortController().signal)
}

/** Who gets so far was let in. */
const LET_IN: Answer = { kind: 'failed', reason: 'no stream takes this subject' }
const KEPT_OUT: Answer = { kind: 'failed', reason: 'the server does not accept the credentials' }

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString()
}

type KeyPair = ReturnType<typeof nkeys.createUser>

interface Door {
  readonly config: string
  readonly right: NatsCredentials
  readonly wrong: NatsCredentials
}

const DOORS: Readonly<Record<string, () => Door>> = {
  'a user and a password': () => ({
    config: `authorization { user: smalt, password: ${JSON.stringify(PASSWORD)} }`,
    right: { user: 'smalt', password: PASSWORD },
    wrong: { user: 'smalt', password: `${PASSWORD}!` },
  }),
  'a token': () => ({
    config: 'authorization { token: "t0ken-of-smalt" }',
    right: { token: 't0ken-of-smalt' },
    wrong: { token: 't0ken-of-others' },
  }),
  'the seed of a key': () => {
    const [user, other] = [nkeys.createUser(), nkeys.createUser()]
    return {
      config: `authorization { users: [ { nkey: ${user.getPublicKey()} } ] }`,
      right: { nkey: textOf(user.getSeed()) },
      wrong: { nkey: textOf(other.getSeed()) },
    }
  },
  'a file of credentials': jwtDoor,
}

for (const [what, makeDoor] of Object.entries(DOORS)) {
  test(`send to NATS: ${what} lets in, and no other does`, { ...BOUNDED, ...NEEDS_OWN_NATS }, async () => {
    const { config, right, wrong } = makeDoor()
    await using server = await startNats(config)
    assert.deepEqual(await sendAs(server.url, right), LET_IN)
    assert.deepEqual(await sendAs(server.url, wrong), KEPT_OUT)
    assert.deepEqual(await sendAs(server.url, undefined), KEPT_OUT)
  })
}

test('send to NATS: who may not publish there is told so', { ...BOUNDED, ...NEEDS_OWN_NATS }, async () => {
  const user = `{ user: smalt, password: pw, permissions: { publish: "other.>" } }`
  await using server = await startNats(`authorization { users: [ ${user} ] }`)
  assert.deepEqual(await sendAs(server.url, { user: 'smalt', password: 'pw' }), {
    kind: 'failed',
    reason: 'the server does not allow to publish there, or to be answered',
  })
})

test(
  'send to NATS: who may publish there and be answered needs nothing else',
  { ...BOUNDED, ...NEEDS_OWN_NATS },
  async () => {
    const subject = ownSubject()
    const permissions = `{ publish: "${subject}.>", subscribe: "_INBOX.>" }`
    const users = `{ user: admin, password: pw }, { user: smalt, password: pw, permissions: ${permissions} }`
    await using server = await startNats(`authorization { users: [ ${users} ] }`)
    await using stream = await makeStream(server.url, subject, { known: { user: 'admin', pass: 'pw' } })
    assert.deepEqual(await sendAs(server.url, { user: 'smalt', password: 'pw' }, subject), {
      kind: 'delivered',
    })
    assert.equal(await stream.count(), 1)
  },
)

test('send to NATS: credentials that are none are found out before anybody is asked', BOUNDED, async () => {
  const invalid: Answer = { kind: 'failed', reason: 'the credentials are not valid' }
  assert.deepEqual(await sendAs('nats://127.0.0.1:1', { nkey: `SU${'A'.repeat(56)}` }), invalid)
  assert.deepEqual(await sendAs('nats://127.0.0.1:1', { creds: 'SECRET' }), invalid)
})

/** An operator vouches for an account, and that for a user. */
function jwtDoor(): Door {
  const operator = nkeys.createOperator()
  const [system, account, stranger] = [nkeys.createAccount(), nkeys.createAccount(), nkeys.createAccount()]
  const unlimited = { subs: -1, data: -1, payload: -1, conn: -1, imports: -1, exports: -1, leaf: -1 }
  const limits = {
    ...unlimited,
    mem_storage: -1,
    disk_storage: -1,
    streams: -1,
    consumer: -1,
    wildcards: true,
  }
  const known = [
    [system, unlimited],
    [account, limits],
  ] as const
  const preload = known.map(
    ([each, its]) => `${each.getPublicKey()}: ${signed(operator, each, { type: 'account', limits: its })}`,
  )
  return {
    config: [
      `operator: ${signed(operator, operator, { type: 'operator' })}`,
      'resolver: MEMORY',
      `system_account: ${system.getPublicKey()}`,
      `resolver_preload: { ${preload.join(', ')} }`,
    ].join('\n'),
    right: { creds: credsBy(account) },
    wrong: { creds: credsBy(stranger) },
  }
}

function credsBy(account: KeyPair): string {
  const user = nkeys.createUser()
  const jwt = signed(account, user, { type: 'user', subs: -1, data: -1, payload: -1 })
  return [
    `-----BEGIN NATS USER JWT-----\n${jwt}\n------END NATS USER JWT------`,
    `-----BEGIN USER NKEY SEED-----\n${textOf(user.getSeed())}\n------END USER NKEY SEED------`,
    '',
  ].join('\n\n')
}

/** A claim about somebody, as NATS has it. */
function signed(issuer: KeyPair, about: KeyPair, nats: Readonly<Record<string, unknown>>): string {
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = {
    jti: randomUUID(),
    iat: Math.floor(Date.now() / 1_000),
    iss: issuer.getPublicKey(),
    sub: about.getPublicKey(),
    name: 'test',
    nats: { version: 2, ...nats },
  }
  const text = `${encode({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encode(claims)}`
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url')}`
}
