/** What one request, and what all of them together, may cost, and how large metadata may be. All are configurable. */
export interface Limits {
  readonly bodyBytes: number
  readonly nesting: number
  readonly inValues: number
  readonly queryNodes: number
  readonly bulkRequests: number
  /** Of one insert or save. */
  readonly documents: number
  readonly resultBytes: number
  readonly queryTimeMs: number
  readonly patternLength: number
  /** Of a regular expression once its repetitions are written out. */
  readonly patternInstructions: number
  /** How much is told of what is wrong with one document. */
  readonly faults: number
  /** How many references a request may follow one from the other. */
  readonly referenceDepth: number
  /** Of one version; `_id`, `objectType` and the sizes of arrays are not counted. */
  readonly versionFields: number
  /** Named by the access lists of one version; `anyone` and `noone` are not counted. */
  readonly versionRoles: number
  readonly entityVersions: number
  /** The one of `_id`, which every entity has, is not counted. */
  readonly entityIndexes: number
  /** Of one index, or of the identity of a version. */
  readonly indexFields: number
  /** Threads for requests that are too much for the main one. */
  readonly threads: number
  /** Open connections of a process. Of this and of the next four, one caller (or address) has at most half. */
  readonly connections: number
  /** Bytes of large answers that callers have not read yet. */
  readonly unsentBytes: number
  /** Bytes of request bodies that are being received or worked on. */
  readonly uploadBytes: number
  /** Streamed finds at a time. */
  readonly streams: number
  /** Followers of events at a time. */
  readonly followers: number
  /** Longest duration of a streamed find, of following events, and of sending any answer. */
  readonly streamTimeMs: number
  /** A connection that takes none of its answer for so long is closed. */
  readonly stallTimeMs: number
  /** A body that brings less than 16 KiB in such a period is given up. */
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
  entityIndexes: 100,
  indexFields: 32,
  threads: 2,
  connections: 4_096,
  unsentBytes: 256 * 1024 * 1024,
  uploadBytes: 128 * 1024 * 1024,
  streams: 64,
  followers: 1_000,
  streamTimeMs: 3_600_000,
  stallTimeMs: 60_000,
  uploadStallMs: 20_000,
}
