/** Configurable limits: the cost of one request, the cost of all requests together, and the size of metadata. */
export interface Limits {
  readonly bodyBytes: number
  readonly nesting: number
  readonly inValues: number
  readonly queryNodes: number
  readonly bulkRequests: number
  /** Documents in one insert or save. */
  readonly documents: number
  readonly resultBytes: number
  readonly queryTimeMs: number
  readonly patternLength: number
  /** Instructions of a compiled regular expression, in which counted repetitions are expanded. */
  readonly patternInstructions: number
  /** Faults reported for one document. */
  readonly faults: number
  /** Length of a chain of references in one request. */
  readonly referenceDepth: number
  /** Fields of one version; predefined fields are not counted. */
  readonly versionFields: number
  /** Roles in the access lists of one version; `anyone` and `noone` are not counted. */
  readonly versionRoles: number
  readonly entityVersions: number
  /** Characters of all versions of one entity. A further version is refused when there are more. */
  readonly entityCharacters: number
  /** Indexes of one entity; the index on `_id`, which every entity has, is not counted. */
  readonly entityIndexes: number
  /** Fields of one index, or of the identity of a version. */
  readonly indexFields: number
  /** Worker threads, for requests that are too much for the main thread. */
  readonly threads: number
  /** Bytes of the database file that the main thread maps into memory; each other thread maps a quarter. SQLite only. */
  readonly sqliteMapBytes: number
  /** Bytes of pages that the main thread caches; each other thread caches a quarter. SQLite only. */
  readonly sqliteCacheBytes: number
  /** Open connections of a process. One caller or address may use half of this limit, and of the next four. */
  readonly connections: number
  /** Bytes of large responses that callers have not read yet. */
  readonly unsentBytes: number
  /** Bytes of request bodies that are being received or processed. */
  readonly uploadBytes: number
  /** Concurrent streamed finds. */
  readonly streams: number
  /** Concurrent followers of events. */
  readonly followers: number
  /** Longest duration of a streamed find, of following events, and of sending any response. */
  readonly streamTimeMs: number
  /** A connection that reads nothing of its response for this long is closed. */
  readonly stallTimeMs: number
  /** How long answers to writes with an idempotency key are kept. */
  readonly idempotencyTimeMs: number
  /** Idempotency keys of one caller that are kept at the same time, and bytes of their answers; checked once a minute. */
  readonly idempotencyKeys: number
  readonly idempotencyBytes: number
  /** Size of one such answer. */
  readonly idempotencyAnswerBytes: number
  /** Locks that one caller holds at the same time. */
  readonly locks: number
  /** A request that takes at least this long is slow. */
  readonly slowRequestMs: number
  /** Slow requests of a process that are kept, to be looked at. */
  readonly slowRequests: number
  /** A request fails when less than 16 KiB of its body arrive in a period of this length. */
  readonly uploadStallMs: number
}

export const DEFAULT_LIMITS: Limits = {
  bodyBytes: 16 * 1024 * 1024,
  nesting: 64,
  inValues: 10_000,
  queryNodes: 1_000,
  bulkRequests: 1_000,
  documents: 100_000,
  resultBytes: 50 * 1024 * 1024,
  queryTimeMs: 30_000,
  patternLength: 1_000,
  patternInstructions: 2_000,
  faults: 100,
  referenceDepth: 5,
  versionFields: 2_000,
  versionRoles: 500,
  entityVersions: 1_000,
  entityCharacters: 16_000_000,
  entityIndexes: 100,
  indexFields: 32,
  threads: 2,
  sqliteMapBytes: 32 * 1024 * 1024,
  sqliteCacheBytes: 32 * 1024 * 1024,
  connections: 4_096,
  unsentBytes: 256 * 1024 * 1024,
  uploadBytes: 128 * 1024 * 1024,
  streams: 64,
  followers: 1_000,
  streamTimeMs: 3_600_000,
  stallTimeMs: 60_000,
  idempotencyTimeMs: 24 * 60 * 60 * 1_000,
  idempotencyKeys: 100_000,
  idempotencyBytes: 256 * 1024 * 1024,
  idempotencyAnswerBytes: 1024 * 1024,
  locks: 10_000,
  slowRequestMs: 200,
  slowRequests: 100,
  uploadStallMs: 20_000,
}
