/** The table of all error codes with their HTTP statuses, and the error class that carries them. */

/**
 * Code → HTTP status of a response with this code in `errors`. A code in `dataErrors` leaves the status at 200. The
 * groups are the sections of docs/reference/errors.md.
 */
export const CODES = {
  // Request errors
  'crud:InvalidRequest': 400,
  'crud:LimitExceeded': 400,
  'crud:InvalidCursor': 400,
  'crud:RequestTimeout': 408,
  'crud:BodyTooLarge': 413,
  'crud:ResultSizeTooLarge': 413,
  'crud:UnsupportedMediaType': 415,
  'crud:UnknownRoute': 404,
  'crud:MethodNotAllowed': 405,
  'crud:ForeignOrigin': 403,
  'crud:EventsGone': 410,
  'crud:UnknownSink': 404,
  'crud:DuplicateSink': 409,
  'crud:UnknownDocument': 404,
  'crud:PreconditionFailed': 412,
  'crud:ConfiguredSink': 409,
  'crud:UnknownDeadLetter': 404,
  'crud:NoHistory': 400,
  'crud:Unauthenticated': 401,
  'crud:TooManyRequests': 429,
  'crud:Unavailable': 503,
  'crud:Internal': 500,
  'crud:UnknownEntity': 404,
  'crud:NoDefaultVersion': 404,
  'crud:DisabledMetadataVersion': 404,
  'crud:MetadataAppearsTwice': 400,
  'crud:InvalidLock': 409,
  'crud:IdempotencyConflict': 409,
  'crud:IdempotencyMismatch': 422,
  'crud:saved-search:missing': 400,
  'crud:saved-search:noDefaultValue': 400,
  'crud:saved-search:invalidType': 400,
  'rest-crud:NoEntityMatch': 400,
  'rest-crud:NoVersionMatch': 400,
  'rest-crud:SavedSearchError': 404,
  'store-crud:NullProjection': 400,
  'store-crud:NullQuery': 400,
  'store-crud:OutcomeUnknown': 504,
  'store-crud:Timeout': 504,
  'store-crud:Unsupported': 400,
  'query-api:InvalidQuery': 400,
  'query-api:InvalidProjection': 400,
  'query-api:InvalidUpdate': 400,
  'query-api:InvalidSort': 400,
  'query-api:InvalidAggregation': 400,
  // Access errors
  'crud:NoAccess': 403,
  'crud:insert:NoFieldAccess': 403,
  'crud:update:NoFieldAccess': 403,
  // Document errors
  'crud:InvalidEntity': 400,
  'crud:Required': 422,
  'crud:TooShort': 422,
  'crud:TooLong': 422,
  'crud:ValueTooSmall': 422,
  'crud:ValueTooLarge': 422,
  'crud:ArrayTooSmall': 422,
  'crud:ArrayTooLarge': 422,
  'crud:InvalidEnum': 422,
  'crud:DuplicateArrayElementId': 422,
  'crud:InvalidArrayIndex': 400,
  'crud:Rolledback': 409,
  'store-crud:Duplicate': 409,
  'store-crud:SaveError': 400,
  'store-crud:ConcurrentUpdate': 409,
  // Field and value errors
  'metadata:InvalidFieldReference': 400,
  'metadata:InvalidArrayReference': 400,
  'metadata:IncompatibleValue': 400,
  // Metadata errors
  'metadata:MissingEntityInfo': 404,
  'metadata:MissingSchema': 404,
  ERR_NO_METADATA: 404,
  'metadata:NoEntityName': 400,
  'rest-metadata:NoNameMatch': 400,
  'rest-metadata:NoVersionMatch': 400,
  'metadata:ParseMissingElement': 422,
  'metadata:ParseInvalidStatus': 422,
  'metadata:IllFormedMetadata': 422,
  'metadata:InvalidName': 422,
  'metadata:InvalidType': 422,
  'metadata:InvalidArrayElementType': 422,
  'metadata:InvalidConstraint': 422,
  'metadata:InvalidHook': 422,
  'metadata:InvalidIndex': 422,
  'metadata:InvalidReference': 422,
  'metadata:InvalidEnum': 422,
  'metadata:InvalidGenerator': 422,
  'metadata:InvalidDefault': 422,
  'metadata:InvalidAccess': 422,
  'metadata:DuplicateEnum': 422,
  'metadata:UnknownBackend': 422,
  'metadata:InvalidDatastore': 422,
  'metadata:FieldWrongType': 422,
  'metadata:MetadataWithNoFields': 422,
  'metadata:InvalidVersionNumber': 422,
  'metadata:InvalidDefaultVersion': 422,
  'metadata:DisabledDefaultVersion': 409,
  'metadata:DuplicateSchema': 409,
  'metadata:CannotDeleteEntity': 409,
  'metadata:UpdateInvalidatesMetadata': 409,
} as const satisfies Record<string, number>

export type Code = keyof typeof CODES

/** The status in a response to a data request, which is malformed where a metadata request is unprocessable. */
export function dataStatusOf(code: Code): number {
  const status = CODES[code]
  return status === 422 && code !== 'crud:IdempotencyMismatch' ? 400 : status
}

/** An error as it is sent to the caller. */
export interface ErrorObject {
  readonly objectType: 'error'
  readonly context: string
  /** A `Code`, or the name that another dialect has for it. */
  readonly errorCode: string
  readonly msg: string
}

interface ErrorLocation {
  /** JSON pointer into the request, or line and column of a filter. */
  readonly at?: string
  /** Where in the operation the problem is, such as the path of a field. */
  readonly context?: string
}

/** An error that the caller can act on. Its message names fields and entities, never values of stored documents. */
export class ServiceError extends Error {
  readonly code: Code
  readonly context: string
  readonly at: string | undefined
  readonly #problem: string

  constructor(code: Code, message: string, location: ErrorLocation = {}) {
    super(
      location.at === undefined ? message : `${message} (at ${location.at === '' ? 'the top' : location.at})`,
    )
    this.name = 'ServiceError'
    this.code = code
    this.context = location.context ?? ''
    this.at = location.at
    this.#problem = message
  }

  /** The same error at another place. */
  movedTo(at: string): ServiceError {
    return new ServiceError(this.code, this.#problem, { at, context: this.context })
  }

  /** The same error with another code. */
  as(code: Code): ServiceError {
    const { at, context } = this
    return new ServiceError(code, this.#problem, { context, ...(at !== undefined && { at }) })
  }

  /** The same error with `within` prepended to its context. */
  within(within: string): ServiceError {
    return new ServiceError(this.code, this.message, { context: this.#contextIn(within) })
  }

  toObject(within = ''): ErrorObject {
    return {
      objectType: 'error',
      context: this.#contextIn(within),
      errorCode: this.code,
      msg: this.message,
    }
  }

  #contextIn(within: string): string {
    if (within === '') return this.context
    return this.context === '' ? within : `${within}/${this.context}`
  }
}

/** An unforeseen error. Its own text may contain anything, so it goes to the log and never to the caller. */
export function internalError(details = ''): ServiceError {
  return new ServiceError('crud:Internal', `something went wrong on our side; see the log${details}`)
}

/** Turns a forgotten case of a closed union into a compile error. */
export function unreachable(value: never): never {
  throw new Error(`unreachable case: ${JSON.stringify(value)}`)
}

/** Whether something is busy or out of reach, so that the same may succeed in a moment. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'crud:Unavailable'
}

/** The cause of an error in words for the operator, with names that callers must not see. */
export class CauseForOperator extends Error {}

/** The message of the error, unless it has such a cause. */
export function messageForOperator({ cause, message }: Error): string {
  return cause instanceof CauseForOperator ? cause.message : message
}

/** A store that can be reached, but has no room left: for commands not the same as one that is out of reach. */
export class NoRoomError extends ServiceError {
  constructor(message: string) {
    super('crud:Unavailable', message)
  }
}

/** The error of a malformed request; `at` is a JSON pointer into its body. */
export function invalidRequest(message: string, at?: string): ServiceError {
  return new ServiceError('crud:InvalidRequest', message, at === undefined ? {} : { at })
}
