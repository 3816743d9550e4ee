/** Lints all metadata of a store without starting a service on it. */
import { parseLocation } from '../base/location.ts'
import type { Finding } from '../metadata/finding.ts'
import { openRegistry } from '../metadata/registry.ts'
import { openStore } from '../store/open.ts'
import { findingsIn } from './metadata/access-reports.ts'
import { type Datasource, OpenError } from './open/stores.ts'
import { refuseAbsent } from './require-store.ts'
import { searchFindings } from './search/lint-searches.ts'

export interface EntityFindings {
  readonly entity: string
  readonly findings: readonly Finding[]
}

/** Lints one entity or all. Throws an OpenError if the store cannot be opened, a ServiceError for an unknown entity. */
export async function lintStore(
  datasources: readonly Datasource[],
  entity?: string,
): Promise<readonly EntityFindings[]> {
  // The first datasource stores the metadata; of the others only names and kinds matter.
  const { location } = datasources[0]!
  const failed = (error: unknown): never => {
    throw new OpenError(location, error)
  }
  await refuseAbsent(location).catch(failed)
  await using store = await openStore(location).catch(failed)
  await store.ping().catch(failed)
  const kinds = new Map(
    datasources.map(({ name, location: each }) => [name, parseLocation(each)?.kind ?? '']),
  )
  const registry = await openRegistry(store.metadata, {
    backends: [...new Set(kinds.values())],
    datasources: [...kinds.keys()],
    backendOf: (datasource) => kinds.get(datasource) ?? '',
    now: () => new Date(),
  })
  const names = entity === undefined ? registry.names() : [registry.infoOf(entity).name]
  const { name: datasource } = datasources[0]!
  const ofSearches = await searchFindings(registry, { store, datasource })
  return names.map((name) => ({
    entity: name,
    findings: [...findingsIn(registry, name), ...ofSearches(name)],
  }))
}
