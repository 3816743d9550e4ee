/** Something that an import changes, or that differs afterwards, for its report. */
export interface Note {
  /**
   * `rewritten`: the metadata was adapted. `differs`: something works in another way, or is missing. `warning`: a likely
   * mistake in the metadata.
   */
  readonly kind: 'rewritten' | 'differs' | 'warning'
  readonly entity: string
  readonly what: string
  /** What to do about it; absent if there is nothing to do. */
  readonly advice?: string
}
