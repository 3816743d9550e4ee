/** Which addresses are refused, in every way to write them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPrivateAddress } from '../../../src/sinks/addresses.ts'
import { hostOf } from '../../../src/sinks/host.ts'

const PRIVATE = [
  ['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.255', '127.0.0.1'],
  ['127.255.255.254', '169.254.0.1', '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.8'],
  ['192.0.2.1', '192.88.99.1', '192.168.0.1', '192.168.255.255', '198.18.0.1', '198.19.255.255'],
  ['198.51.100.7', '203.0.113.9', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
].flat()
const PUBLIC = [
  ['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
  ['128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.0.1.0'],
  ['192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0', '223.255.255.255'],
].flat()

for (const [addresses, isRefused] of [
  [PRIVATE, true],
  [PUBLIC, false],
] as const) {
  for (const address of addresses) {
    const hex = address.split('.').map((part) => Number(part).toString(16).padStart(2, '0'))
    const groups = `${hex[0]}${hex[1]}:${hex[2]}${hex[3]}`
    const spellings = [address, `::ffff:${address}`, `::FFFF:${groups}`, `0:0:0:0:0:ffff:${groups}`]
    test(`address: ${address} is ${isRefused ? 'refused' : 'taken'}, also mapped and translated`, () => {
      for (const each of [...spellings, `64:ff9b::${address}`, `64:ff9b::${groups}`]) {
        assert.equal(isPrivateAddress(each), isRefused, each)
      }
    })
  }
}

const PRIVATE_6 = [
  ['::', '::1', '::7f00:1', '::127.0.0.1', '::ffff:0:127.0.0.1', '64:ff9b:1::7f00:1', '100::1', 'fe80::1'],
  ['fe80::1%eth0', 'febf::1', 'fec0::1', 'fc00::1', 'fd00:ec2::254', 'fdff::1', 'ff02::1', 'ff0e::1'],
  ['2001::1', '2001:0:7f00:1::', '2001:db8::1', '2001:1ff::1', '2002:7f00:1::', '2002:0a00:1::1'],
  ['3fff::1', '4000::1', '5f00::1', '1fff::1'],
].flat()

test('address: of IPv6, what is not of the internet is refused', () => {
  for (const address of PRIVATE_6) assert.equal(isPrivateAddress(address), true, address)
})

test('address: of IPv6, what is of the internet is taken', () => {
  for (const address of [
    '2606:4700:4700::1111',
    '2001:4860:4860::8888',
    '2001:200::1',
    '2a00::1',
    '3ffe::1',
  ]) {
    assert.equal(isPrivateAddress(address), false, address)
  }
})

test('address: what is none is refused', () => {
  for (const text of ['', 'localhost', '127.0.0', '1.2.3.4.5', '::g', '[::1]']) {
    assert.equal(isPrivateAddress(text), true, text)
  }
})

const LOOPBACK_HOSTS = [
  ['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1', '017700000001'],
  ['127.0.0.1.', '0x7F.0x0.0x0.0x1', '①②⑦.⓪.⓪.①', '127%2e0%2e0%2e1', '[::1]', '[::ffff:127.0.0.1]', '0'],
  ['[::ffff:7f00:1]', '[0:0:0:0:0:ffff:127.0.0.1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '0.0.0.0', '[::]'],
].flat()

for (const host of LOOPBACK_HOSTS) {
  test(`host: ${host} is an address of this machine in a URL`, () => {
    const { address } = hostOf(new URL(`http://${host}/`))
    assert.ok(address !== undefined && isPrivateAddress(address), address ?? host)
  })
}

test('host: a name is no address', () => {
  assert.deepEqual(hostOf(new URL('https://example.com:8443/a')), { name: 'example.com' })
})
