/** Replaces a ticket in the address by the credentials that it stands for. */
import { unauthenticated } from '../auth/unauthenticated.ts'
import { ServiceError } from '../base/errors.ts'
import type { TicketService } from '../service/service.ts'
import type { Exchange } from './exchange.ts'
import { canonicalPath } from './routes/router.ts'
import type { Route } from './routes/route.ts'

/** Headers that a ticket stands for. */
export const CREDENTIALS = ['Authorization', 'Smalt-Roles', 'Smalt-Principal', 'Smalt-Claims'] as const

/** Takes the ticket out of the search, so that routes never see it. */
export function redeemTicket(tickets: TicketService, exchange: Exchange, route: Route): void {
  const { request, search } = exchange
  if (route.method !== 'GET' || !search.includes('ticket=')) return
  const parts = search.split('&')
  const given = parts.filter((part) => part.startsWith('ticket='))
  const ticket = new URLSearchParams(given[0]).get('ticket') ?? ''
  // a saved search may have a parameter of this name
  if (given.length === 0 || (route.takesOtherParameters && !ticket.startsWith('t1.'))) return
  exchange.search = parts.filter((part) => !part.startsWith('ticket=')).join('&')
  if (given.length > 1) throw new ServiceError('crud:InvalidRequest', 'the parameter "ticket" is given twice')
  if (CREDENTIALS.some((name) => request.headers[name.toLowerCase()] !== undefined)) {
    throw new ServiceError('crud:InvalidRequest', 'send credentials or a ticket, not both')
  }
  const credentials = tickets.open(ticket, canonicalPath(route.path, exchange.params))
  if (!credentials) {
    throw unauthenticated(
      'the ticket is for another path or older than a minute; POST /auth/ticket issues one',
    )
  }
  for (const name of CREDENTIALS) {
    const value = credentials[name]
    if (value === undefined) continue
    request.headers[name.toLowerCase()] = value
    request.rawHeaders.push(name, value)
  }
}
