/** Issues certificates with given subjects and dates: certificates in a file cannot expire within seconds of a test. */
import { type KeyObject, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

export interface Issued {
  /** PEM texts. */
  readonly cert: string
  readonly key: string
}

export interface Authority extends Issued {
  readonly issue: (subject: Subject, expires: Date) => Issued
}

type Subject = readonly (readonly [attribute: 'CN' | 'OU', value: string])[]

export function createAuthority(): Authority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = nameOf([['CN', 'Short-lived authority']])
  const issue = (subject: Subject, expires: Date): Issued => {
    const own = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const tbs = { subject: nameOf(subject), issuer: name, key: own.publicKey, expires, isAuthority: false }
    return { cert: certificate(tbs, keys.privateKey), key: pemOf(own.privateKey) }
  }
  const far = new Date(Date.now() + 86_400_000)
  const root = { subject: name, issuer: name, key: keys.publicKey, expires: far, isAuthority: true }
  return { cert: certificate(root, keys.privateKey), key: pemOf(keys.privateKey), issue }
}

interface ToBeSigned {
  readonly subject: Buffer
  readonly issuer: Buffer
  readonly key: KeyObject
  readonly expires: Date
  readonly isAuthority: boolean
}

const OIDS = { CN: '0603550403', OU: '060355040b' }
const ECDSA_SHA256 = der(0x30, Buffer.from('06082a8648ce3d040302', 'hex'))
/** The extension basicConstraints, critical, with cA. */
const IS_AUTHORITY = Buffer.from('a3133011300f0603551d130101ff040530030101ff', 'hex')

function certificate({ subject, issuer, key, expires, isAuthority }: ToBeSigned, signer: KeyObject): string {
  const version = der(0xa0, der(0x02, Buffer.from([2])))
  const serial = der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)]))
  const validity = der(0x30, timeOf(new Date(Date.now() - 60_000)), timeOf(expires))
  const spki = key.export({ type: 'spki', format: 'der' })
  const extensions = isAuthority ? [IS_AUTHORITY] : []
  const tbs = der(0x30, version, serial, ECDSA_SHA256, issuer, validity, subject, spki, ...extensions)
  const signature = der(0x03, Buffer.from([0]), sign('sha256', tbs, signer))
  const text = der(0x30, tbs, ECDSA_SHA256, signature).toString('base64')
  const lines = text.match(/.{1,64}/g)!.join('\n')
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}

function nameOf(subject: Subject): Buffer {
  const parts = subject.map(([attribute, value]) =>
    der(0x31, der(0x30, Buffer.from(OIDS[attribute], 'hex'), der(0x0c, Buffer.from(value)))),
  )
  return der(0x30, ...parts)
}

function timeOf(date: Date): Buffer {
  const digits = date.toISOString().replaceAll(/\D/g, '').slice(2, 14)
  return der(0x17, Buffer.from(`${digits}Z`))
}

function der(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content)
  const { length } = body
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), body])
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' })
}
