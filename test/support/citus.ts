/**
 * A Citus cluster in place of the PostgreSQL server: SMALT_TEST_CITUS is the URL of its coordinator. What cannot hold on a
 * cluster is named here, and the tests of it are not registered there.
 */
import { test } from 'node:test'

export function citusUrl(): string | undefined {
  return process.env['SMALT_TEST_CITUS']
}

const REASONS = {
  settings: 'the settings of the nodes are those of whoever started them',
  sharing: 'a statement reads or writes one document by its key: those of several would go to several nodes',
  joins: 'a statement reads the documents of one entity; the service reads those of others separately',
  snapshot: 'there is no snapshot of all nodes: a read may see a write on one node before it does on another',
} as const

/** Defines tests, or checks, except on a cluster, where they cannot hold for this reason. */
export function unlessOnCitus(_reason: keyof typeof REASONS, define: () => void): void {
  if (citusUrl() === undefined) define()
}

/** In place of `test`, for tests that cannot hold on a cluster for this reason. */
export function testUnlessOnCitus(_reason: keyof typeof REASONS): typeof test {
  return citusUrl() === undefined ? test : (ignored as typeof test)
}

const ignored = (): Promise<void> => Promise.resolve()
