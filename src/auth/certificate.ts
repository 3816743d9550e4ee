/** Client certificates that TLS has verified: common name → principal, organizational units → roles. */
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
import type { Caller } from '../access/caller.ts'
import type { Mode } from './authentication.ts'
import { type CertificateRole, rolesOfSubject } from './certificate-roles.ts'
import type { MakeCaller } from './make-caller.ts'
import { unauthenticated } from './unauthenticated.ts'

export function certificateMode(makeCaller: MakeCaller, table: readonly CertificateRole[] = []): Mode {
  // the certificate of a connection never changes, but it may expire while the connection is open
  const peers = new WeakMap<TLSSocket, PeerCertificate>()
  return ({ socket }) => {
    if (!('encrypted' in socket)) return undefined
    const connection = socket as TLSSocket
    let peer = peers.get(connection)
    if (!peer) {
      peer = readPeerCertificate(connection, makeCaller, table)
      if (!peer) return undefined
      peers.set(connection, peer)
    }
    // negated, so that a certificate with an invalid date (NaN) counts as expired
    if (!(peer.expiresAt > Date.now())) throw unauthenticated('the client certificate has expired')
    return peer.caller
  }
}

interface PeerCertificate {
  readonly caller: Caller
  readonly expiresAt: number
}

function readPeerCertificate(
  connection: TLSSocket,
  makeCaller: MakeCaller,
  table: readonly CertificateRole[],
): PeerCertificate | undefined {
  const certificate = connection.getPeerCertificate(true) as Partial<DetailedPeerCertificate>
  const { subject } = certificate
  if (subject === undefined) return undefined
  if (!connection.authorized) throw unauthenticated('the client certificate is not trusted')
  const [principal] = textsIn(subject.CN)
  if (principal === undefined) throw unauthenticated('the subject of the certificate has no common name')
  const attributes = new Map(
    Object.entries(subject).map(([name, value]) => [name.toUpperCase(), textsIn(value)]),
  )
  const roles = [...textsIn(subject.OU), ...rolesOfSubject(attributes, table)]
  return { caller: makeCaller({ principal, roles }), expiresAt: expiryOf(certificate) }
}

/** The earliest expiry in the certificate chain. */
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

/** Node.js returns an array for an attribute that occurs several times. */
function textsIn(value: unknown): readonly string[] {
  return [value].flat().filter((each): each is string => typeof each === 'string' && each !== '')
}
