/** Which addresses events may be sent to: those of the internet, and neither this machine nor what stands beside it. */
import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** Whether it belongs to the machine, to a network of somebody's own, or to nobody in particular. */
export function isPrivateAddress(address: string): boolean {
  const [bare = ''] = address.split('%')
  if (isIPv4(bare)) return refused.check(bare, 'ipv4')
  // what is no address at all is not known to be harmless
  if (!isIPv6(bare)) return true
  return !public6.check(bare, 'ipv6') || refused.check(bare, 'ipv6')
}

/** Special purposes (RFC 6890 and the registry that it began). */
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

/** Inside of what is public: protocol assignments and Teredo, examples, and 6to4, which leads to any address of IPv4. */
const REFUSED_6: readonly (readonly [network: string, bits: number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

/** An address of IPv4 written as one of IPv6: mapped, and by the prefix that translators to IPv4 share (NAT64). */
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
