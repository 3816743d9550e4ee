/** `smalt config`: prints the configuration in effect without secrets, or the schema of the file. */
import { maskLocation } from '../../base/location.ts'
import { showSink } from '../../service/sinks/sink-settings.ts'
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
  const { proxy } = auth
  const shownAuth = proxy?.secret === undefined ? auth : { ...auth, proxy: { ...proxy, secret: '***' } }
  const shownEvents = { ...events, sinks: events.sinks.map(showSink) }
  return { ...config, datasources: locations, auth: shownAuth, events: shownEvents, limits, limitVariables }
}
