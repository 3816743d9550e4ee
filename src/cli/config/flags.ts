/** The options that set a value of the configuration. */
import type { Option, OptionValues } from '../option.ts'
import { variableFor } from './settings.ts'

export interface ConfigOption extends Option {
  /** The setting, such as `auth.modes`; absent for the option that names the settings file. */
  readonly path?: string
  /** The default, as help shows it; absent where there is none. */
  readonly usual?: string
}

export const CONFIG_OPTIONS = {
  port: {
    type: 'string',
    value: 'N',
    path: 'port',
    usual: '8080',
    summary: 'port to listen on; 0 picks a free one',
  },
  host: { type: 'string', value: 'H', path: 'host', usual: '127.0.0.1', summary: 'address to listen on' },
  data: { type: 'string', value: 'DIR', path: 'data', usual: './data', summary: 'directory of the data' },
  store: {
    type: 'string',
    value: 'LOCATION',
    path: 'store',
    summary: 'store to use in place of --data: postgres://... or sqlite:DIR',
  },
  datasource: {
    type: 'string',
    multiple: true,
    value: 'NAME=LOCATION',
    path: 'datasources',
    summary: 'further store, by the name that metadata use for it; may be repeated',
  },
  workers: {
    type: 'string',
    value: 'N',
    path: 'workers',
    usual: '1',
    summary: 'number of processes that share the port; PostgreSQL only',
  },
  auth: {
    type: 'string',
    value: 'MODES',
    path: 'auth.modes',
    usual: 'open',
    summary: 'authentication: open, tokens, jwt, proxy, separated by commas',
  },
  compatibility: {
    type: 'string',
    value: 'NAME',
    path: 'compatibility',
    summary: 'answer as another service where its clients notice: lightblue',
  },
  ui: {
    type: 'string',
    value: 'BOOL',
    path: 'ui.enabled',
    usual: 'true',
    summary: 'whether the page is served at /ui: true or false',
  },
  config: { type: 'string', value: 'FILE', usual: 'smalt.json', summary: 'file of settings' },
  'log-level': {
    type: 'string',
    value: 'L',
    path: 'logLevel',
    usual: 'info',
    summary: 'trace, debug, info, warn, error, fatal or silent',
  },
} as const satisfies Readonly<Record<string, ConfigOption>>

export type Flags = OptionValues<typeof CONFIG_OPTIONS>

/** The same options for help, where each summary includes the default and the environment variable. */
export function describedConfigOptions(): Readonly<Record<string, Option>> {
  const described = Object.entries<ConfigOption>(CONFIG_OPTIONS).map(([name, option]) => {
    const variable = variableFor(option.path ?? name)
    const facts = option.usual === undefined ? variable : `${option.usual}; ${variable}`
    return [name, { ...option, summary: `${option.summary} (${facts})` }] as const
  })
  return Object.fromEntries(described)
}
