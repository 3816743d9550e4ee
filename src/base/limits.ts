/** What one request may cost, and how large metadata may be. Every limit is configurable; these are the defaults. */
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
}
