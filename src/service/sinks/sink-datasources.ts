/**
 * Maps sinks to datasources: a sink receives the events of one datasource, and its name is unique among all
 * of them.
 */
import { ServiceError } from '../../base/errors.ts'
import type { Database } from '../../store/database.ts'
import type { SinkRecord, SinkStore } from '../../store/sinks.ts'
import type { PlacedSink } from './sink-settings.ts'

/** The parts of a datasource that sinks use. */
export interface SinkDatasource {
  readonly datasource: string
  readonly store: Pick<Database, 'events' | 'sinks' | 'transact' | 'keyedAnswers'>
}

export interface FoundSink extends SinkDatasource {
  readonly record: SinkRecord
}

export interface SinkDatasources {
  /** The datasource that a sink with this definition belongs to. */
  placeOf(sink: PlacedSink): SinkDatasource
  find(name: string): Promise<FoundSink | undefined>
  /** The default datasource. */
  first(): SinkDatasource
  /** One datasource alone, with the sinks of an open transaction. */
  within(datasource: string, sinks: SinkStore): SinkDatasources
  /** Sorted by name. */
  list(): Promise<readonly FoundSink[]>
}

interface PlacesOptions {
  /** By name, the default one first. */
  readonly stores: ReadonlyMap<string, SinkDatasource['store']>
  /** Throws if the entity does not exist. */
  readonly datasourceOf: (entity: string) => string
}

export function createSinkDatasources({ stores, datasourceOf }: PlacesOptions): SinkDatasources {
  const [first] = stores.keys()
  const datasourceFor = ({ definition, datasource }: PlacedSink): string => {
    const { entity } = definition.filter
    // With a single datasource the result is clear, even if the entity is defined only later.
    if (entity === undefined || stores.size === 1) return datasource ?? first!
    const ofEntity = datasourceOf(entity)
    if (datasource === undefined || datasource === ofEntity) return ofEntity
    throw invalidDatasource('"datasource" must be that of the entity, or be left out')
  }
  return {
    placeOf(sink) {
      const datasource = datasourceFor(sink)
      const store = stores.get(datasource)
      if (store) return { datasource, store }
      throw invalidDatasource(`"datasource" must be one of ${[...stores.keys()].join(', ')}`)
    },
    async find(name) {
      for (const [datasource, store] of stores) {
        const record = await store.sinks.read(name)
        if (record) return { datasource, store, record }
      }
      return undefined
    },
    first: () => ({ datasource: first!, store: stores.get(first!)! }),
    within: (datasource, sinks) =>
      createSinkDatasources({
        stores: new Map([[datasource, { ...stores.get(datasource)!, sinks }]]),
        datasourceOf,
      }),
    async list() {
      const found = [...stores].map(async ([datasource, store]) => {
        const records = await store.sinks.list()
        return records.map((record): FoundSink => ({ datasource, store, record }))
      })
      return (await Promise.all(found)).flat().sort((a, b) => (a.record.name < b.record.name ? -1 : 1))
    },
  }
}

function invalidDatasource(message: string): ServiceError {
  return new ServiceError('crud:InvalidRequest', message, { at: '/datasource' })
}
