/**
 * Refuses unknown variables that begin with SMALT_: a misspelt setting would otherwise have no effect without
 * notice.
 */
import { type Json, isArray, isObject } from '../../base/json/json.ts'
import { ConfigError } from './config-error.ts'
import { type Environment, type Given, VARIABLES } from './settings.ts'
import { suggestion } from '../../base/suggest.ts'

const KNOWN = [...VARIABLES, 'SMALT_CONFIG', 'SMALT_URL', 'SMALT_TOKEN', 'SMALT_PROFILE']

/** Variables that control the tests of Smalt. */
const OF_TESTS = /^SMALT_(?:TEST_.*|SEED|FUZZ)$/

/** Names that follow the naming rule → the exceptional name in use. */
const INSTEAD: Readonly<Partial<Record<string, string>>> = {
  SMALT_AUTH_MODES: 'SMALT_AUTH',
  SMALT_EVENTS_ALLOW_PRIVATE_ADDRESSES: 'SMALT_EVENTS_ALLOW_PRIVATE',
}

export function refuseStrayVariables(environment: Environment, file: Given | undefined): void {
  const known = new Set([...KNOWN, ...(file ? variablesIn(file.value) : [])])
  const isStray = (name: string): boolean =>
    name.startsWith('SMALT_') && !known.has(name) && !OF_TESTS.test(name)
  const stray = Object.keys(environment).find(isStray)
  if (stray === undefined) return
  const near = INSTEAD[stray] ?? suggestion(stray, KNOWN)
  const hint = near === undefined ? '"smalt config schema" lists what there is' : `did you mean ${near}?`
  throw new ConfigError(`${stray} sets nothing; ${hint}`)
}

/** Variables that the file reads secrets from, by `{"env": "NAME"}`. */
function variablesIn(value: Json): readonly string[] {
  if (isArray(value)) return value.flatMap(variablesIn)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, member]) =>
    key === 'env' && typeof member === 'string' ? [member] : variablesIn(member),
  )
}
