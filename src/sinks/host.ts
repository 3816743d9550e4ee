/** The host of a URL, as those who connect and those who check must read it alike. */
import { isIP } from 'node:net'

export interface Host {
  /** A name or an address, without brackets. */
  readonly name: string
  /** Present when it is an address; all its spellings were made one when the URL was parsed. */
  readonly address?: string
}

export function hostOf({ hostname }: Pick<URL, 'hostname'>): Host {
  const name = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(name) === 0 ? { name } : { name, address: name }
}

/** Of a URL whose protocol is none of the web: there a host stays as it was spelt unless it is parsed as one of the web. */
export function foreignHostOf(url: URL): Host | undefined {
  const known = URL.parse(`http://${url.host}/`)
  return known === null || known.hostname === '' ? undefined : hostOf(known)
}
