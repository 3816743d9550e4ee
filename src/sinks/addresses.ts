/**
 * Decides which addresses events may be sent to. Loopback and private addresses are refused, because a sink
 * could otherwise be used to reach internal hosts (SSRF).
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** Whether the address is loopback, private or otherwise not publicly routable. */
export function isPrivateAddress(address: string): boolean {
  // an IPv6 address may end in a zone id (fe80::1%eth0), which names an interface and is not part of the address
  const [bare = ''] = address.split('%')
  if (isIPv4(bare)) return refused.check(bare, 'ipv4')
  // an invalid address is refused, because it cannot be shown to be public
  if (!isIPv6(bare)) return true
  return !public6.check(bare, 'ipv6') || refused.check(bare, 'ipv6')
}

/** Special-purpose networks (RFC 6890 and the IANA registry that it began). */
const REFUSED_4: readonly (readonly [network: string, bits: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/**
 * Exceptions within the public range: protocol assignments and Teredo, documentation examples, and 6to4,
 * which can lead to any IPv4 address.
 */
const REFUSED_6: readonly (readonly [network: string, bits: number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

/** Prefixes of IPv6 addresses that contain an IPv4 address: IPv4-mapped, and the well-known NAT64 prefix. */
const CARRIERS = ['::ffff:', '64:ff9b::'] as const

const refused = new BlockList()
for (const [network, bits] of REFUSED_4) {
  refused.addSubnet(network, bits, 'ipv4')
  for (const carrier of CARRIERS) refused.addSubnet(`${carrier}${network}`, 96 + bits, 'ipv6')
}
for (const [network, bits] of REFUSED_6) refused.addSubnet(network, bits, 'ipv6')

const public6 = new BlockList()
public6.addSubnet('2000::', 3, 'ipv6')
for (const carrier of CARRIERS) public6.addSubnet(`${carrier}0.0.0.0`, 96, 'ipv6')
