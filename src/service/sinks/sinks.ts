/** Sinks: receivers of events. A sink decides who sees which data, so all of its operations need a permission. */
import { type Caller, requirePermission } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json/json.ts'
import { parseDefinition, printDefinition } from '../../sinks/definition.ts'
import type { SinkDefinition } from '../../sinks/kinds.ts'
import { type DeadLetterDeps, deadLetters } from './dead-letters.ts'
import type { Deps } from '../deps.ts'
import { runOnce } from '../idempotency.ts'
import type { SinkChange, SinkOperations, SinkService } from '../sink-service.ts'
import type { SinkRendering } from './rendering.ts'
import type { FoundSink, SinkDatasource, SinkDatasources } from './sink-datasources.ts'
import { type EventSettings, type PlacedSink, readSink, showSink } from './sink-settings.ts'

interface SinkDeps extends DeadLetterDeps, Pick<Deps, 'limits' | 'now'> {
  readonly hasEntity: (name: string) => boolean
  readonly places: SinkDatasources
  readonly settings: EventSettings
  readonly rendering: Pick<SinkRendering, 'render' | 'renderLargeBy'>
}

export function sinkService(deps: SinkDeps): SinkService {
  return {
    ...sinkOperations(deps),
    render: deps.rendering.render,
    renderLargeBy: deps.rendering.renderLargeBy,
    async once(caller, { about, run }, idempotency) {
      requirePermission(caller, 'events.manage')
      const { datasource, store } = await placeOf(deps, about)
      const keyedRequest = { ...idempotency, caller: caller.principal }
      return await runOnce({ ...deps, store }, keyedRequest, async ({ bookkeeping: { sinks } }) => {
        const places = deps.places.within(datasource, sinks)
        return { status: 200, text: JSON.stringify(await run(sinkOperations({ ...deps, places }))) }
      })
    },
  }
}

/** The datasource whose transaction the change belongs to. */
async function placeOf({ places, settings }: SinkDeps, about: SinkChange['about']): Promise<SinkDatasource> {
  if ('name' in about) {
    const found = await places.find(about.name)
    return found ?? places.first()
  }
  const { allowPrivateAddresses = false } = settings
  const sink = readSink(about.body, { allowPrivateAddresses })
  const place = places.placeOf(sink)
  const taken = await places.find(sink.definition.name)
  if (taken && taken.datasource !== place.datasource) throw duplicate()
  return place
}

function sinkOperations(deps: SinkDeps): SinkOperations {
  const { places, settings } = deps
  const { allowPrivateAddresses = false, sinks = [] } = settings
  const configured = new Set(sinks.map(({ definition }) => definition.name))
  const dead = deadLetters(deps)

  const found = async (caller: Caller, name: string): Promise<FoundSink> => {
    requirePermission(caller, 'events.manage')
    const sink = await places.find(name)
    if (sink) return sink
    throw new ServiceError('crud:UnknownSink', 'there is no sink of this name')
  }
  const changeable = async (caller: Caller, name: string): Promise<FoundSink> => {
    const sink = await found(caller, name)
    if (!configured.has(name)) return sink
    throw new ServiceError('crud:ConfiguredSink', 'this sink stands in the configuration: change it there')
  }
  const shown = (sink: FoundSink): JsonObject => {
    const warnings = warningsAbout(parseDefinition(sink.record.definition), deps)
    return {
      ...show(sink, configured.has(sink.record.name)),
      ...(warnings.length > 0 && { warnings }),
    }
  }
  const current = async (caller: Caller, name: string): Promise<Json> => shown(await found(caller, name))

  return {
    async create(caller, body) {
      requirePermission(caller, 'events.manage')
      const sink = readSink(body, { allowPrivateAddresses })
      await createSink(places, sink)
      return await current(caller, sink.definition.name)
    },
    async list(caller) {
      requirePermission(caller, 'events.manage')
      return { sinks: (await places.list()).map(shown) }
    },
    get: current,
    async replace(caller, name, body) {
      await untilReplaced(async () => {
        const sink = await changeable(caller, name)
        const replaced = parseDefinition(sink.record.definition)
        return await replaceSink(places, sink, readSink(body, { allowPrivateAddresses, replaced }))
      })
      return await current(caller, name)
    },
    async remove(caller, name) {
      const { store } = await changeable(caller, name)
      return { removed: await store.sinks.remove(name) }
    },
    dead: async (caller, name, { parameters, work }) =>
      await dead.list(await found(caller, name), parameters, work),
    inspect: async (caller, name, { eventId, work }) =>
      await dead.inspect(await found(caller, name), eventId, work),
    redrive: async (caller, name, eventId) => await dead.redrive(await found(caller, name), eventId),
    discard: async (caller, name, eventId) => await dead.discard(await found(caller, name), eventId),
  }
}

/** The entity may be created later, so the sink is not refused; until then, it receives nothing. */
function warningsAbout(
  { filter: { entity } }: SinkDefinition,
  { hasEntity }: SinkDeps,
): readonly JsonObject[] {
  if (entity === undefined || hasEntity(entity)) return []
  const msg = `there is no entity "${entity}": as long as there is none, the sink receives no events`
  return [{ severity: 'warning', code: 'unknown-entity', at: '/filter/entity', msg }]
}

/** A new sink receives the events from now on. */
export async function createSink(places: SinkDatasources, sink: PlacedSink): Promise<void> {
  const { name } = sink.definition
  const { store } = places.placeOf(sink)
  const isTaken = (await places.find(name)) !== undefined
  const { last: position } = await store.events.eventBounds()
  const made = { name, definition: printDefinition(sink.definition), position }
  if (!isTaken && (await store.sinks.create(made))) return
  throw duplicate()
}

function duplicate(): ServiceError {
  return new ServiceError('crud:DuplicateSink', 'there is a sink of this name')
}

/**
 * A replacement keeps the secrets of the definition that it replaces, so each try reads that again: otherwise it could
 * put a secret back that another request has just replaced.
 */
export async function untilReplaced(attempt: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i <= REPETITIONS; i++) if (await attempt()) return
  const message = 'other requests changed this sink at the same time; read it again, and retry'
  throw new ServiceError('store-crud:ConcurrentUpdate', message)
}

const REPETITIONS = 3

/**
 * Returns false if others changed the sink since it was read. A sink keeps its position in the order of events, so it
 * cannot change to another datasource, which has another order.
 */
export async function replaceSink(
  places: SinkDatasources,
  old: FoundSink,
  sink: PlacedSink,
): Promise<boolean> {
  if (places.placeOf(sink).datasource !== old.datasource) {
    const way = 'remove it and make it anew'
    throw new ServiceError('crud:InvalidRequest', `a sink cannot go to another datasource; ${way}`)
  }
  return await old.store.sinks.replace(old.record, printDefinition(sink.definition))
}

function show({ datasource, record }: FoundSink, isConfigured: boolean): JsonObject {
  const { position, isDisabled, failures, retryAt } = record.progress
  return {
    ...showSink({ definition: parseDefinition(record.definition), datasource }),
    configured: isConfigured,
    status: isDisabled ? 'disabled' : failures > 0 ? 'failing' : 'active',
    position,
    failures,
    ...(!isDisabled && retryAt > 0 && failures > 0 && { retryAt: new Date(retryAt).toISOString() }),
  }
}
