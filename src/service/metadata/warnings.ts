/** The warnings in the response to a change of metadata: about the request, and about what it results in. */
import type { JsonObject } from '../../base/json/json.ts'
import { bounded } from '../../metadata/lint/lint.ts'
import type { Finding } from '../../metadata/finding.ts'
import type { Registry } from '../../metadata/registry.ts'
import { findingsIn } from './access-reports.ts'

/** Findings of the entity at one time. Empty if it does not exist, or metadata was not read yet. */
export function knownFindings(registry: Registry, entity: string): ReadonlySet<string> {
  const isKnown = registry.epoch() >= 0 && registry.names().includes(entity)
  return new Set((isKnown ? findingsIn(registry, entity) : []).map((each) => JSON.stringify(each)))
}

/** Warnings that are new, or that every response repeats. Hints are left to `lint`. */
export function warningsIn(
  registry: Registry,
  entity: string,
  before: ReadonlySet<string>,
): readonly Finding[] {
  return findingsIn(registry, entity).filter(
    (each) => each.severity === 'warning' && (REPEATED.has(each.code) || !before.has(JSON.stringify(each))),
  )
}

/** What has no effect, or none yet, is reported with every write. */
const REPEATED = new Set([
  'unknown-key',
  'undefined-reference',
  'invalid-reference',
  'index-without-field',
  'hook-without-field',
  'inert-hook',
])

/** The response, which is accepted as a metadata document again. */
export function withWarnings(document: JsonObject, warnings: readonly Finding[]): JsonObject {
  if (warnings.length === 0) return document
  const byCode = [...Map.groupBy(warnings, ({ code }) => code).values()]
  const some = byCode.flatMap((each) => [...bounded(each)])
  return { ...document, warnings: some.map((each) => ({ ...each })) }
}
