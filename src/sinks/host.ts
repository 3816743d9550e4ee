/** The host of a URL. One parser for connecting and for checking, so that both mean the same host. */
import { isIP } from 'node:net'

export interface Host {
  /** A name or an address, without brackets. */
  readonly name: string
  /** Present when the host is an address, in the canonical form of the URL parser. */
  readonly address?: string
}

export function hostOf({ hostname }: Pick<URL, 'hostname'>): Host {
  const name = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(name) === 0 ? { name } : { name, address: name }
}

/**
 * The host of a URL with a non-web protocol. The URL parser normalizes hosts only for web protocols, so the
 * host is parsed again as part of an http URL.
 */
export function foreignHostOf(url: URL): Host | undefined {
  const known = URL.parse(`http://${url.host}/`)
  return known === null || known.hostname === '' ? undefined : hostOf(known)
}
