/** Refuses headers that look like ours and are none: a misspelt one would be ignored, and its roles with it. */
import type { IncomingMessage } from 'node:http'
import { ServiceError } from '../base/errors.ts'
import { suggestion } from '../base/suggest.ts'
import { type ProxySettings, SECRET_HEADER } from './settings.ts'

const OPEN_HEADERS = ['Smalt-Roles', 'Smalt-Principal', 'Smalt-Claims']
const PREFIX = 'smalt-'

interface KnownHeaders {
  readonly isOpen: boolean
  readonly proxy?: ProxySettings | undefined
}

export function headerCheck({ isOpen, proxy }: KnownHeaders): (request: IncomingMessage) => void {
  const ofProxy = Object.values({ ...proxy?.headers }).filter((name) => name !== undefined)
  // a proxy may send its secret before the service is configured to read it
  const names = [...OPEN_HEADERS, SECRET_HEADER, ...ofProxy].map((name) => name.toLowerCase())
  const known = new Set(names)
  return ({ rawHeaders }) => {
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = rawHeaders[i]!
      // most headers begin with another letter, and every request comes here
      if ((name.charCodeAt(0) | LOWER_CASE) !== FIRST) continue
      const lower = name.toLowerCase()
      if (lower.startsWith(PREFIX) && !known.has(lower)) throw unknown(name, isOpen)
    }
  }
}

const LOWER_CASE = 0x20
const FIRST = PREFIX.charCodeAt(0)

/** Names no header of a proxy, because one of them is that of its secret. */
function unknown(name: string, isOpen: boolean): ServiceError {
  const nearest = isOpen ? suggestion(name, OPEN_HEADERS) : undefined
  const known = isOpen ? `known are ${OPEN_HEADERS.join(', ')}` : 'the credentials say who the caller is'
  const hint = nearest === undefined ? known : `did you mean ${nearest}?`
  return new ServiceError('crud:InvalidRequest', `there is no header ${name}; ${hint}`)
}
