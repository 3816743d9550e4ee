/** Recognizes host names and addresses of the loopback interface. */
import { setOrClear } from '../base/memo.ts'

type HostKind = 'loopback' | 'foreign' | 'malformed'

/** Classifies a `Host` header; results are cached, because few values occur. */
export function hostKind(host: string | undefined): HostKind {
  if (host === undefined) return 'foreign'
  // not cached, so that clients cannot fill the memory
  if (host.length > MAX_HOST_LENGTH) return 'malformed'
  return hosts.get(host) ?? setOrClear(hosts, host, classifyHost(host), MAX_CACHED)
}

/** The name in a `Host` header, in lower case and without the port. */
export function hostName(host: string): string {
  return HOST.exec(host)?.[1]?.toLowerCase() ?? ''
}

/** Whether a name or address, such as the value of `--host`, can be reached from this machine only. */
export function isLoopback(name: string): boolean {
  if (name === '::1' || name === '[::1]' || name.toLowerCase() === 'localhost') return true
  return IPV4.test(name) && name.startsWith('127.') && name.split('.').every((part) => Number(part) <= 255)
}

export function isLoopbackOrigin(origin: string): boolean {
  const url = URL.parse(origin)
  return url !== null && /^https?:$/.test(url.protocol) && isLoopback(url.hostname)
}

const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/
const HOST = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/
/** Entries of a cache of this folder. */
export const MAX_CACHED = 1_000
/** The longest host name, a colon and a port. */
const MAX_HOST_LENGTH = 255 + 6
const hosts = new Map<string, HostKind>()

function classifyHost(host: string): HostKind {
  const match = HOST.exec(host)
  if (!match || Number(match[2] ?? 0) > 65_535) return 'malformed'
  return isLoopback(match[1]!) ? 'loopback' : 'foreign'
}
