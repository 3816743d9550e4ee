/** The route table, from which the router, the OpenAPI document and the documentation page are generated. */
import { ADMIN_ROUTES } from './admin-routes.ts'
import { DATA_ROUTES } from './data/data-routes.ts'
import { DOCUMENT_ROUTES } from './document-routes.ts'
import { EVENT_ROUTES } from './event-routes.ts'
import { METADATA_CHANGE_ROUTES } from './metadata/metadata-change-routes.ts'
import { METADATA_READ_ROUTES } from './metadata/metadata-read-routes.ts'
import type { Route } from './route.ts'
import { SINK_ROUTES } from './sink-routes.ts'
import { TICKET_ROUTES } from './ticket-routes.ts'
import { UI_ROUTES } from './ui-routes.ts'

export const ROUTES: readonly Route[] = [
  ...DATA_ROUTES,
  ...DOCUMENT_ROUTES,
  ...METADATA_READ_ROUTES,
  ...METADATA_CHANGE_ROUTES,
  ...EVENT_ROUTES,
  ...SINK_ROUTES,
  ...TICKET_ROUTES,
  ...ADMIN_ROUTES,
  ...UI_ROUTES,
]
