/** What a figure is: requests, how many at once, and against what. */
import type { Sent } from './documents.ts'

/**
 * Bare: the least that could answer the same. Tables: a thin layer over a plain table. Otherwise Smalt itself, asked for
 * something easier or undisturbed.
 */
export type Against =
  | { readonly kind: 'bare'; readonly requests?: readonly Sent[]; readonly label?: string }
  | { readonly kind: 'tables' }
  | { readonly kind: 'other'; readonly requests: readonly Sent[]; readonly label: string }
  | { readonly kind: 'undisturbed'; readonly background: readonly Sent[] }

export interface Figure {
  readonly name: string
  readonly title: string
  readonly connections: number
  readonly requests: readonly Sent[]
  readonly against: Against
  /** Documents in one request, where that is what counts. */
  readonly perRequest?: number
  /** Both sides must answer the same, which is made sure of before they are measured. */
  readonly isCompared?: boolean
  /** Means something with this store only. */
  readonly store?: StoreName
}

export type StoreName = 'sqlite' | 'postgres'

export const BARE: Against = { kind: 'bare' }

export function several<T>(length: number, make: (i: number) => T): readonly T[] {
  return Array.from({ length }, (_, i) => make(i))
}
