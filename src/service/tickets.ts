/**
 * Tickets: short-lived substitutes for credentials in the address, for clients that cannot send headers. A ticket contains
 * the credentials of its caller, encrypted with the secret of the store. Whoever uses it is authenticated by them again, so
 * a ticket never has more rights than the credentials have at that time, and ends with them.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { invalidRequest } from '../base/errors.ts'
import { type Json, type JsonObject, isObject, member } from '../base/json/json.ts'
import type { Deps } from './deps.ts'
import type { Credentials, TicketService } from './service.ts'

type TicketDeps = Pick<Deps, 'secret' | 'now'>

export function ticketService(deps: TicketDeps): TicketService {
  return {
    issue: (body, credentials, canonical) => issue(deps, canonical(readPath(body)), credentials),
    open: (ticket, path) => open(deps, ticket, path),
  }
}

const LIFETIME_MS = 60_000
const PREFIX = 't1.'
const IV_BYTES = 12
const TAG_BYTES = 16

function issue({ secret, now }: TicketDeps, path: string, credentials: Credentials): string {
  const content = JSON.stringify({ path, until: now().getTime() + LIFETIME_MS, credentials })
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', keyFrom(secret()), iv)
  const encrypted = Buffer.concat([cipher.update(content, 'utf8'), cipher.final()])
  return PREFIX + Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64url')
}

/** Undefined if the ticket was not issued here, has expired, or is for another path. */
function open({ secret, now }: TicketDeps, ticket: string, path: string): Credentials | undefined {
  const content = decrypted(ticket, keyFrom(secret()))
  if (content?.['path'] !== path || Number(content['until']) < now().getTime()) return undefined
  return content['credentials'] as Credentials
}

function decrypted(ticket: string, key: Buffer): JsonObject | undefined {
  const bytes = Buffer.from(ticket.startsWith(PREFIX) ? ticket.slice(PREFIX.length) : '', 'base64url')
  if (bytes.length <= IV_BYTES + TAG_BYTES) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES))
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
  try {
    const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()])
    const content = JSON.parse(text.toString('utf8')) as Json
    return isObject(content) ? content : undefined
  } catch {
    // the tag does not fit: it was made elsewhere, or changed
    return undefined
  }
}

/** A key of its own, because the secret has other uses. */
function keyFrom(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'smalt ticket', 32))
}

function readPath(body: Json | undefined): string {
  const path = member(body, 'path')
  const others = isObject(body) ? Object.keys(body).filter((key) => key !== 'path') : []
  if (others.length > 0) throw invalidRequest(`no ticket knows the key "${others[0]}"; send "path" only`)
  if (typeof path === 'string' && PATH.test(path)) return path
  throw invalidRequest(
    '"path" must be the path that the ticket is for, without parameters, such as "/events/stream"',
  )
}

const PATH = /^\/[^?#\s]{0,2000}$/
