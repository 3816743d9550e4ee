/** Client certificates that the TLS of this service has verified: common name → principal, units → roles. */
import type { TLSSocket } from 'node:tls'
import type { Caller } from '../access/caller.ts'
import type { Mode } from './authentication.ts'
import type { MakeCaller } from './make-caller.ts'
import { unauthenticated } from './unauthenticated.ts'

export function certificateMode(makeCaller: MakeCaller): Mode {
  // a connection is one caller for as long as it lives
  const known = new WeakMap<TLSSocket, Caller>()
  return ({ socket }) => {
    const connection = socket as TLSSocket
    if (!('encrypted' in socket)) return undefined
    const found = known.get(connection)
    if (found) return found
    const { subject } = connection.getPeerCertificate() as Partial<
      ReturnType<TLSSocket['getPeerCertificate']>
    >
    if (subject === undefined) return undefined
    if (!connection.authorized) throw unauthenticated('the client certificate is not trusted')
    const [principal] = textsIn(subject.CN)
    if (principal === undefined) throw unauthenticated('the subject of the certificate has no common name')
    const caller = makeCaller({ principal, roles: textsIn(subject.OU) })
    known.set(connection, caller)
    return caller
  }
}

/** Node gives an array where an attribute stands several times. */
function textsIn(value: unknown): readonly string[] {
  return [value].flat().filter((each): each is string => typeof each === 'string' && each !== '')
}
