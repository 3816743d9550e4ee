/** One connection to a NATS server: to an address that was checked and to no other, and never made again by itself. */
import { lookup } from 'node:dns/promises'
import { isIPv6 } from 'node:net'
import type { Authenticator, ConnectionOptions, NatsConnection, TlsOptions } from '@nats-io/transport-node'
import { isPrivateAddress } from '../addresses.ts'
import { type NatsCredentials, type NatsDefinition, type NatsServer, serverOf } from './nats-definition.ts'
import { dialing } from './nats-sockets.ts'
import { NatsProblem } from './nats-reasons.ts'
import { orAborted } from '../or-aborted.ts'

export interface NatsClient {
  /** Until the stream has it. */
  publish(subject: string, message: NatsMessage): Promise<void>
  /** When it is over, for whatever reason. */
  readonly closed: Promise<void>
  close(): Promise<void>
  closeWhenIdle(): Promise<void>
}

export interface NatsMessage {
  /** A stream takes one of an id, for as long as it remembers ids. */
  readonly id: string
  readonly body: string
}

export type FindAddresses = (name: string) => Promise<readonly string[]>

export interface LinkOptions {
  readonly allowPrivateAddresses: boolean
  readonly timeLimitMs: number
  readonly findAddresses?: FindAddresses
  /** Ends connecting; a connection that is made is closed by itself. */
  readonly signal: AbortSignal
}

export async function openNatsClient(definition: NatsDefinition, options: LinkOptions): Promise<NatsClient> {
  const { timeLimitMs, signal } = options
  const server = serverOf(definition.url)
  if (!server) throw new NatsProblem('the address is none')
  const addresses = await orAborted(addressesOf(server, options), signal)
  // Both take their time to load, which is wasted where nobody publishes.
  const [client, { jetstream }] = await Promise.all([
    import('@nats-io/transport-node'),
    import('@nats-io/jetstream'),
  ])
  const known = knownBy(client, definition.credentials)
  const connecting = dialing(signal, () =>
    client.connect({ ...SETTINGS, ...known, ...placeOf(server, addresses, timeLimitMs), name: 'smalt' }),
  )
  const connection = await connecting.catch((error: unknown) => {
    throw server.isTls ? error : plainly(error)
  })
  const stream = jetstream(connection)
  return linkOver(connection, async (subject, { id, body }) => {
    const headers = client.headers()
    headers.set('Content-Type', 'application/cloudevents+json')
    await stream.publish(subject, body, { msgID: id, headers, timeout: timeLimitMs })
  })
}

const SETTINGS: ConnectionOptions = {
  // It stays with the addresses that were checked.
  resolve: false,
  ignoreClusterUpdates: true,
  // What is sent while there is no connection would wait in memory.
  reconnect: false,
  // An address that fails is left out; by any other number, two are.
  maxReconnectAttempts: -1,
  pingInterval: 20_000,
  noAsyncTraces: true,
}

function linkOver(connection: NatsConnection, publish: NatsClient['publish']): NatsClient {
  const underWay = new Set<Promise<void>>()
  return {
    async publish(subject, message) {
      const publishing = publish(subject, message)
      underWay.add(publishing)
      await publishing.finally(() => underWay.delete(publishing))
    },
    closed: connection.closed().then(() => undefined),
    close: () => connection.close(),
    async closeWhenIdle() {
      await Promise.allSettled(underWay)
      await connection.close()
    },
  }
}

/** Every address is checked, and those that were checked are the ones that are connected to. */
async function addressesOf(
  { name, address }: NatsServer,
  { allowPrivateAddresses, findAddresses = lookUp }: LinkOptions,
): Promise<readonly string[]> {
  const addresses = address === undefined ? await findAddresses(name) : [address]
  if (addresses.length === 0) throw new NatsProblem('the name has no address')
  if (allowPrivateAddresses || !addresses.some(isPrivateAddress)) return addresses
  throw new NatsProblem('the address is private, loopback or link-local')
}

async function lookUp(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address)
}

/** Whoever is addressed by tls:// must prove to have that name, though it is an address that is connected to. */
function placeOf(
  { isTls, name, address, port }: NatsServer,
  addresses: readonly string[],
  timeLimitMs: number,
): ConnectionOptions {
  const proof = address === undefined ? { servername: name } : { host: address }
  return {
    servers: addresses.map((each) => `${isIPv6(each) ? `[${each}]` : each}:${port}`),
    tls: isTls ? (proof as TlsOptions) : null,
    timeout: Math.ceil(timeLimitMs / addresses.length),
  }
}

/** Told that there is no TLS, the client stumbles over a server that wants it. */
function plainly(error: unknown): unknown {
  const wantsTls = error instanceof Error && error.cause instanceof TypeError
  return wantsTls ? new NatsProblem('the server wants TLS, and an address that begins with tls://') : error
}

type Client = typeof import('@nats-io/transport-node')

function knownBy(
  client: Client,
  credentials: NatsCredentials | undefined,
): Pick<ConnectionOptions, 'authenticator'> {
  if (!credentials) return {}
  const authenticator = authenticatorFor(client, credentials)
  try {
    authenticator('nonce')
  } catch {
    throw new NatsProblem('the credentials are not sound')
  }
  return { authenticator }
}

function authenticatorFor(client: Client, credentials: NatsCredentials): Authenticator {
  if ('user' in credentials) {
    return client.usernamePasswordAuthenticator(credentials.user, credentials.password)
  }
  if ('token' in credentials) return client.tokenAuthenticator(credentials.token)
  if ('nkey' in credentials) return client.nkeyAuthenticator(Buffer.from(credentials.nkey))
  return client.credsAuthenticator(Buffer.from(credentials.creds))
}
