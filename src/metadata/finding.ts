/** Findings about valid metadata: the result of lint, and the warnings of a write. */
export interface Finding {
  /** A warning should be fixed; a hint should be reviewed. */
  readonly severity: 'warning' | 'hint'
  readonly code: string
  /** JSON pointer into the metadata document. */
  readonly at: string
  /** The version of the metadata document; absent when it does not matter. */
  readonly version?: string
  /** The problem, and how to fix it. */
  readonly msg: string
}
