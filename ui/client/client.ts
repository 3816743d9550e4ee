/** The client: one function for each operation of the HTTP interface that programs use. It knows nothing of any page. */
import { dataClient } from './data-client.ts'
import { eventClient } from './event-client.ts'
import { importClient } from './import-client.ts'
import { metadataClient } from './metadata-client.ts'
import { type TransportOptions, createTransport } from './transport.ts'
import type { SlowRequests } from './types.ts'

export type Client = ReturnType<typeof createClient>

// eslint-disable-next-line typescript/explicit-module-boundary-types -- the type is that of its parts
export function createClient(options: TransportOptions) {
  const transport = createTransport(options)
  return {
    ...dataClient(transport),
    importPart: importClient(transport),
    ...metadataClient(transport),
    ...eventClient(transport),
    /** Measurements in the text format of Prometheus. */
    metrics: (signal?: AbortSignal) => transport.text('GET', '/metrics', { signal }),
    /** The newest slow requests of the process that answers. */
    slowRequests: async (signal?: AbortSignal) =>
      (await transport.send('GET', '/admin/slow-requests', { signal })) as unknown as SlowRequests,
    openapi: () => transport.send('GET', '/openapi.json'),
    send: transport.send,
  }
}

/** A segment of a path. */
export const segment = encodeURIComponent
