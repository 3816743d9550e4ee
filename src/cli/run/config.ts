/** `smalt config`: prints the configuration in effect without secrets, or the schema of the file. */
import type { JsonObject } from '../../base/json/json.ts'
import { maskLocation } from '../../base/location.ts'
import { maskUrl } from '../../base/mask-url.ts'
import { type PlacedSink, showSink } from '../../service/sinks/sink-settings.ts'
import { type Config, limitVariable } from '../config/config.ts'
import { usageError } from '../usage-error.ts'
import { settingsSchema } from '../config/setting-shapes.ts'

export function runConfig(words: readonly string[], read: () => Config): void {
  const word = words.join(' ')
  if (word !== '' && word !== 'schema')
    throw usageError(`config takes no further words, but got ${word}`, { word, known: ['schema'] })
  const shown = words.length > 0 ? settingsSchema() : masked(read())
  process.stdout.write(`${JSON.stringify(shown, undefined, 2)}\n`)
}

/** Each limit is shown with its variable, because the names are hard to guess. */
function masked({ limits, datasources, auth, events, ...config }: Config) {
  const locations = datasources.map(({ name, location }) => ({ name, location: maskLocation(location) }))
  const variables = Object.keys(limits).map((name) => [name, limitVariable(name)])
  const limitVariables = Object.fromEntries(variables) as Record<string, string>
  const shownEvents = { ...events, sinks: events.sinks.map(maskedSink) }
  return {
    ...config,
    datasources: locations,
    auth: maskedAuth(auth),
    events: shownEvents,
    limits,
    limitVariables,
  }
}

function maskedAuth({ proxy, jwt, ...auth }: Config['auth']) {
  const shownProxy = proxy?.secret === undefined ? proxy : { ...proxy, secret: '***' }
  const shownJwt = jwt?.jwksUrl === undefined ? jwt : { ...jwt, jwksUrl: maskUrl(jwt.jwksUrl) }
  return { ...auth, jwt: shownJwt, proxy: shownProxy }
}

/** Unlike a response, which a client may send back to replace the sink, this can do without the whole URL. */
function maskedSink(sink: PlacedSink): JsonObject {
  return { ...showSink(sink), url: maskUrl(sink.definition.url) }
}
