/**
 * A Citus cluster in place of the PostgreSQL server: SMALT_TEST_CITUS is the URL of its coordinator. What cannot hold on a
 * cluster is named here, and the tests of it are not registered there.
 */
export function citusUrl(): string | undefined {
  return process.env['SMALT_TEST_CITUS']
}

const REASONS = {
  joins: 'a statement reads the documents of one entity; the service reads those of others separately',
  snapshot: 'there is no snapshot of all nodes: a read may see a write on one node before it does on another',
} as const

/** Defines tests, or checks, except on a cluster, where they cannot hold for this reason. */
export function unlessOnCitus(_reason: keyof typeof REASONS, define: () => void): void {
  if (citusUrl() === undefined) define()
}
