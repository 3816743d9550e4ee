/** The settings of events: how long they are kept, and who is told of them from the start. */
import { ServiceError } from '../../base/errors.ts'
import { type JsonObject, isObject } from '../../base/json/json.ts'
import { DEFAULT_ABANDON_DAYS, DEFAULT_EVENT_KEEPING } from '../../service/events/retention.ts'
import { type EventSettings, type PlacedSink, readSink } from '../../service/sinks/sink-settings.ts'
import { ConfigError } from './config-error.ts'
import type { Reader } from './reader.ts'

/** Every setting of events that a configuration can hold, with defaults filled in. */
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
    return sinkAt(place, () => readSink(revealed(pick, place, each), { allowPrivateAddresses }))
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

/** With its secrets, wherever they are. */
function revealed(pick: Reader, place: string, sink: JsonObject): JsonObject {
  const { secret, credentials } = sink
  return {
    ...sink,
    ...(secret !== undefined && { secret: pick.reveal(`${place}/secret`, secret) }),
    ...(isObject(credentials) && { credentials: revealedAll(pick, `${place}/credentials`, credentials) }),
  }
}

function revealedAll(pick: Reader, place: string, secrets: JsonObject): JsonObject {
  const entries = Object.entries(secrets).map(([name, value]) => [
    name,
    pick.reveal(`${place}/${name}`, value),
  ])
  return Object.fromEntries(entries) as JsonObject
}

function sinkAt(place: string, read: () => PlacedSink): PlacedSink {
  try {
    return read()
  } catch (error) {
    if (error instanceof ServiceError) throw new ConfigError(`${place}: ${error.message}`)
    throw error
  }
}
