/**
 * Describes why an event was not published, by names and codes only, because the message of an error may
 * contain anything.
 */

/** A problem found before the first request to the server. */
export class NatsProblem extends Error {}

/** The reason for an error, or for its cause where that is more specific. */
export function natsReason(error: unknown): string {
  if (error instanceof NatsProblem) return error.message
  if (!(error instanceof Error)) return UNKNOWN
  const { code } = error as Error & { readonly code?: unknown }
  if (error.name === 'JetStreamApiError') return apiReason(Number(code))
  if (error.message.includes('max_payload')) return 'the event is larger than the server takes'
  if (error.message === "server does not support 'tls'") return 'the server has no TLS'
  // A string is a system error code, such as ECONNREFUSED.
  const known = typeof code === 'string' ? code : REASONS[error.name]
  const deeper = error.cause === undefined ? UNKNOWN : natsReason(error.cause)
  return deeper === UNKNOWN ? (known ?? UNKNOWN) : deeper
}

const UNKNOWN = 'the connection failed'

const REASONS: Readonly<Partial<Record<string, string>>> = {
  AbortError: 'timed out',
  TimeoutError: 'timed out',
  AuthorizationError: 'the server does not accept the credentials',
  UserAuthenticationExpiredError: 'the server does not accept the credentials any more',
  PermissionViolationError: 'the server does not allow to publish there, or to be answered',
  JetStreamNotEnabled: 'no stream takes this subject',
  NoResponders: 'no stream takes this subject',
  ClosedConnectionError: 'the connection was lost',
  RequestError: 'the connection was lost',
}

function apiReason(code: number): string {
  return API_REASONS[code] ?? `JetStream refuses it by its error ${code}`
}

const API_REASONS: Readonly<Partial<Record<number, string>>> = {
  10_039: 'JetStream is not enabled there',
  10_076: 'JetStream is not enabled there',
  10_023: 'the server has no resources left for the stream',
  10_047: 'the server has no storage left for the stream',
  10_054: 'the event is larger than the stream takes',
  10_077: 'the stream is full',
}
