/** The host of a URL, as those who connect and those who check must read it alike. */
import { isIP } from 'node:net'

interface Host {
  /** A name or an address, without brackets. */
  readonly name: string
  /** Present when it is an address; all its spellings were made one when the URL was parsed. */
  readonly address?: string
}

export function hostOf({ hostname }: URL): Host {
  const name = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(name) === 0 ? { name } : { name, address: name }
}
