/** The settings of events: their retention, and the sinks that the configuration defines. */
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isObject } from '../../base/json/json.ts'
import type { Shape } from '../../base/json/shape.ts'
import { DEFAULT_ABANDON_DAYS, DEFAULT_EVENT_KEEPING } from '../../service/events/retention.ts'
import {
  type EventSettings,
  type PlacedSink,
  SINK_KIND_MEMBERS,
  readSink,
} from '../../service/sinks/sink-settings.ts'
import { ConfigError } from './config-error.ts'
import type { Reader } from './reader.ts'

/** All settings of events that a configuration can contain, with defaults applied. */
export type EventsConfig = Required<Omit<EventSettings, 'roundMs'>>

export function eventsFrom(pick: Reader, datasources: readonly Datasource[]): EventsConfig {
  const { keepDays, keepCount } = DEFAULT_EVENT_KEEPING
  const allowPrivateAddresses = pick.isTrue('events.allowPrivateAddresses')
  return {
    keepDays: pick.number('events.keepDays') ?? keepDays,
    keepCount: pick.number('events.keepCount') ?? keepCount,
    abandonDays: pick.number('events.abandonDays') ?? DEFAULT_ABANDON_DAYS,
    allowPrivateAddresses,
    sinks: sinksFrom(pick, { allowPrivateAddresses, datasources }),
  }
}

interface Datasource {
  readonly name: string
}

interface Surroundings {
  readonly allowPrivateAddresses: boolean
  readonly datasources: readonly Datasource[]
}

function sinksFrom(
  pick: Reader,
  { allowPrivateAddresses, datasources }: Surroundings,
): readonly PlacedSink[] {
  const given = pick.given('events.sinks')
  if (!given) return []
  const sinks = (given.value as readonly JsonObject[]).map((each, i) => {
    const place = `${given.name}/${i}`
    return sinkAt(place, () =>
      readSink(revealed(pick, { place, shapes: SINK_KIND_MEMBERS }, each), { allowPrivateAddresses }),
    )
  })
  const names = sinks.map(({ definition }) => definition.name)
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice !== undefined) throw new ConfigError(`${given.name} names the sink ${twice} twice`)
  for (const [i, { datasource }] of sinks.entries()) {
    if (datasource === undefined || datasources.some(({ name }) => name === datasource)) continue
    throw new ConfigError(`${given.name}/${i}/datasource: there is no such datasource`)
  }
  return sinks
}

/** Replaces the secrets of the sink by their values, which may be in variables and files. */
function revealed(
  pick: Reader,
  { place, shapes }: { readonly place: string; readonly shapes: Readonly<Record<string, Shape>> },
  given: JsonObject,
): JsonObject {
  const entries = Object.entries(given).map(([name, value]): [string, Json] => {
    const { writeOnly, properties } = shapes[name] ?? {}
    const inner = `${place}/${name}`
    if (writeOnly === true) return [name, pick.reveal(inner, value)]
    if (!isObject(properties) || !isObject(value)) return [name, value]
    return [
      name,
      revealed(pick, { place: inner, shapes: properties as Readonly<Record<string, Shape>> }, value),
    ]
  })
  return Object.fromEntries(entries)
}

function sinkAt(place: string, read: () => PlacedSink): PlacedSink {
  try {
    return read()
  } catch (error) {
    if (error instanceof ServiceError) throw new ConfigError(`${place}: ${error.message}`)
    throw error
  }
}
