/** Client certificates that the TLS of this service has verified: common name → principal, units → roles. */
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
import type { Caller } from '../access/caller.ts'
import type { Mode } from './authentication.ts'
import type { MakeCaller } from './make-caller.ts'
import { unauthenticated } from './unauthenticated.ts'

export function certificateMode(makeCaller: MakeCaller): Mode {
  // a connection has one certificate for as long as it lives, but it may live longer than the certificate
  const known = new WeakMap<TLSSocket, Shown>()
  return ({ socket }) => {
    if (!('encrypted' in socket)) return undefined
    const connection = socket as TLSSocket
    let shown = known.get(connection)
    if (!shown) {
      shown = shownBy(connection, makeCaller)
      if (!shown) return undefined
      known.set(connection, shown)
    }
    // so that a date that cannot be read has passed
    if (!(shown.expiresAt > Date.now())) throw unauthenticated('the client certificate has expired')
    return shown.caller
  }
}

interface Shown {
  readonly caller: Caller
  readonly expiresAt: number
}

function shownBy(connection: TLSSocket, makeCaller: MakeCaller): Shown | undefined {
  const certificate = connection.getPeerCertificate(true) as Partial<DetailedPeerCertificate>
  const { subject } = certificate
  if (subject === undefined) return undefined
  if (!connection.authorized) throw unauthenticated('the client certificate is not trusted')
  const [principal] = textsIn(subject.CN)
  if (principal === undefined) throw unauthenticated('the subject of the certificate has no common name')
  return { caller: makeCaller({ principal, roles: textsIn(subject.OU) }), expiresAt: expiryOf(certificate) }
}

/** When the first of the certificate and those that vouch for it expires. */
function expiryOf(certificate: Partial<DetailedPeerCertificate>): number {
  const chain = new Set<Partial<DetailedPeerCertificate>>()
  for (
    let each: Partial<DetailedPeerCertificate> | undefined = certificate;
    each && !chain.has(each);
    each = each.issuerCertificate
  ) {
    chain.add(each)
  }
  return Math.min(...[...chain].map(({ valid_to: end }) => Date.parse(end ?? '')))
}

/** Node gives an array where an attribute stands several times. */
function textsIn(value: unknown): readonly string[] {
  return [value].flat().filter((each): each is string => typeof each === 'string' && each !== '')
}
