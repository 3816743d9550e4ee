/** The route that issues tickets. */
import { Type } from '../../base/json/shape.ts'
import { ServiceError } from '../../base/errors.ts'
import { CREDENTIALS } from '../ticket.ts'
import { type App, type Call, type Reply, type Route, jsonReply } from './route.ts'
import { checkPath, readTarget } from './router.ts'

export const TICKET_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    refusesKey: 'a ticket changes nothing in the store; a repetition issues another one',
    path: '/auth/ticket',
    operationId: 'issueTicket',
    tag: 'service',
    access: 'authenticated',
    summary: 'Issue a ticket',
    description:
      'For clients that cannot send headers, such as `EventSource`: `?ticket=` in the address of a GET stands for the credentials of the caller, for one minute and this path only.',
    headers: CREDENTIALS.map((name) => ({ name, description: 'Credentials that the ticket stands for.' })),
    body: {
      shape: Type.Object(
        {
          path: Type.String({
            description: 'The path of a GET that the ticket is for, without parameters, percent-encoded.',
          }),
        },
        { additionalProperties: false },
      ),
      name: 'TicketRequest',
      example: { path: '/events/stream' },
    },
    reply: {
      shape: Type.Object({ ticket: Type.String({ description: 'Opaque; valid for one minute.' }) }),
      name: 'Ticket',
      example: { ticket: 't1.3Jm0' },
    },
    errors: ['crud:InvalidRequest'],
    handle: issue,
  },
]

function issue({ app, body, headers }: Call): Reply {
  const given = CREDENTIALS.flatMap((name): [string, string][] => {
    const value = headers[name.toLowerCase()]
    return value === undefined ? [] : [[name, value]]
  })
  const { tickets } = app.service
  return jsonReply({ ticket: tickets.issue(body, Object.fromEntries(given), (path) => pathOfGet(app, path)) })
}

function pathOfGet(app: App, target: string): string {
  const { path } = readTarget(target)
  checkPath(path)
  const found = app.pathOfGet(path)
  if (found !== undefined) return found
  throw new ServiceError(
    'crud:InvalidRequest',
    'there is no GET at this "path", so it can have no ticket; the path of every GET can have one, such as ' +
      '"/events/stream", "/documents/{entity}/{id}" or "/data/find/{entity}"; /docs lists them',
  )
}
