/** Names and addresses that only this machine can use. */

type HostKind = 'loopback' | 'foreign' | 'malformed'

/** What a `Host` header names; the few texts that come again and again are looked up. */
export function hostKind(host: string | undefined): HostKind {
  if (host === undefined) return 'foreign'
  // not remembered, so that nobody fills the memory with them
  if (host.length > LONGEST_HOST) return 'malformed'
  return hosts.get(host) ?? remember(hosts, host, judgeHost(host))
}

/** The name in a `Host` header, in lower case and without the port. */
export function hostName(host: string): string {
  return HOST.exec(host)?.[1]?.toLowerCase() ?? ''
}

/** Whether a name or address, as `--host` takes it, can be reached from this machine only. */
export function isLoopback(name: string): boolean {
  if (name === '::1' || name === '[::1]' || name.toLowerCase() === 'localhost') return true
  return IPV4.test(name) && name.startsWith('127.') && name.split('.').every((part) => Number(part) <= 255)
}

export function isLoopbackOrigin(origin: string): boolean {
  const url = URL.parse(origin)
  return url !== null && /^https?:$/.test(url.protocol) && isLoopback(url.hostname)
}

/** Forgets all when full: what repeats is back at once. */
export function remember<K, T>(known: Map<K, T>, key: K, value: T): T {
  if (known.size >= KNOWN) known.clear()
  known.set(key, value)
  return value
}

const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/
const HOST = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/
const KNOWN = 1_000
/** The longest name, and a port. */
const LONGEST_HOST = 255 + 6
const hosts = new Map<string, HostKind>()

function judgeHost(host: string): HostKind {
  const match = HOST.exec(host)
  if (!match || Number(match[2] ?? 0) > 65_535) return 'malformed'
  return isLoopback(match[1]!) ? 'loopback' : 'foreign'
}
