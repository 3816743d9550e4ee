/**
 * Collects the given settings: flags override variables, which override the file. Each value has the name of
 * its source.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Json, type JsonObject, isArray, isObject } from '../../base/json/json.ts'
import { parseJson } from '../../base/json/parse-json.ts'
import type { Shape } from '../../base/json/shape.ts'
import { ConfigError } from './config-error.ts'
import { expected, problemWith } from './setting-problems.ts'
import { SETTINGS } from './setting-shapes.ts'

export type Environment = Readonly<Partial<Record<string, string>>>

/** A value, and the flag, variable or file position that it came from. */
export interface Given {
  readonly name: string
  readonly value: Json
  readonly layer: Layer
}

/** The strongest first. */
export const LAYERS = ['flag', 'variable', 'file'] as const
type Layer = (typeof LAYERS)[number]

/** By path, such as `auth.jwt.issuer`. */
export type Settings = ReadonlyMap<string, Given>

/** Path → flag. The value of a repeatable flag is an array. */
export type FlagValues = ReadonlyMap<
  string,
  { readonly flag: string; readonly value: string | readonly string[] }
>

export function collectSettings(
  flags: FlagValues,
  environment: Environment,
  file: Given | undefined,
): Settings {
  const found = new Map<string, Given>()
  for (const { path, keys, shape, isSection } of LEAVES) {
    const variable = variableFor(path)
    const flag = flags.get(path)
    const written = FILE_ONLY.includes(path) ? undefined : environment[variable]
    const inFile = file === undefined ? undefined : lookUp(file.value, keys)
    // the presence of a section counts even when it is empty: it can select a mode
    if (isSection) {
      if (inFile !== undefined) found.set(path, { name: file!.name, value: {}, layer: 'file' })
    } else if (flag)
      found.set(path, { name: flag.flag, value: convert(flag.flag, flag.value, shape), layer: 'flag' })
    else if (written !== undefined)
      found.set(path, { name: variable, value: convert(variable, written, shape), layer: 'variable' })
    else if (inFile !== undefined)
      found.set(path, { name: `${file!.name}: /${keys.join('/')}`, value: inFile, layer: 'file' })
  }
  return found
}

/** The named file, or `smalt.json` if it exists. */
export function readSettingsFile(named: string | undefined, directory: string): Given | undefined {
  const path = named ?? join(directory, 'smalt.json')
  const name = named ?? 'smalt.json'
  let source
  try {
    source = readFileSync(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (named === undefined && code === 'ENOENT') return undefined
    throw new ConfigError(`${name} cannot be read: ${message}`)
  }
  const value = parsed(name, source)
  const problem = problemWith(value, SETTINGS)
  if (problem !== undefined) throw new ConfigError(`${name}: ${problem}`)
  return { name, value, layer: 'file' }
}

/** `limits.bodyBytes` is set by `SMALT_LIMITS_BODY_BYTES`, and so on. */
export function variableFor(path: string): string {
  if (path === 'auth.modes') return 'SMALT_AUTH'
  if (path === 'events.allowPrivateAddresses') return 'SMALT_EVENTS_ALLOW_PRIVATE'
  const words = path.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).replaceAll('.', '_')
  return `SMALT_${words.toUpperCase()}`
}

interface Leaf {
  readonly path: string
  readonly keys: readonly string[]
  readonly shape: Shape
  readonly isSection: boolean
}

const LEAVES: readonly Leaf[] = leavesOf(SETTINGS, [])

/** Lists of objects and tables, which the text of a variable cannot express. */
const FILE_ONLY: readonly string[] = ['events.sinks', 'auth.certificates']

/** The variables of all settings except those. */
export const VARIABLES: readonly string[] = LEAVES.flatMap(({ path, isSection }) =>
  isSection || FILE_ONLY.includes(path) ? [] : [variableFor(path)],
)

function leavesOf(shape: Shape, keys: readonly string[]): readonly Leaf[] {
  const members = shape['properties'] as Readonly<Record<string, Shape>> | undefined
  const isSection = members !== undefined && shape['additionalProperties'] === false
  const self = { path: keys.join('.'), keys, shape, isSection }
  if (!isSection) return [self]
  const inner = Object.entries(members)
    .filter(([name]) => name !== '$schema')
    .flatMap(([name, member]) => leavesOf(member, [...keys, name]))
  return keys.length === 0 ? inner : [self, ...inner]
}

function lookUp(value: Json, keys: readonly string[]): Json | undefined {
  let found: Json | undefined = value
  for (const key of keys) found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined
  return found
}

function parsed(name: string, source: string): JsonObject {
  try {
    const value = parseJson(source, 16)
    if (isObject(value)) return value
  } catch (error) {
    throw new ConfigError(`${name} is not sound JSON: ${(error as Error).message}`)
  }
  throw new ConfigError(`${name} must be a JSON object`)
}

/** Converts the text of a flag or variable to a value of the shape. */
function convert(name: string, given: string | readonly string[], shape: Shape): Json {
  if (isObject(shape['additionalProperties'])) return typeof given === 'string' ? listIn(given) : given
  const text = String(given)
  if (takesList(shape)) {
    const list = listIn(text)
    const problem = problemWith(list, shape)
    if (problem === undefined) return list
    throw new ConfigError(`${name}: ${problem.replace(/^\/\d+ /, 'each ')}`)
  }
  if (shape['type'] === 'boolean') {
    if (text === 'true' || text === 'false') return text === 'true'
  } else if (shape['type'] === 'integer') {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (problemWith(value, shape) === undefined) return value
  } else if (text.trim() === '') throw new ConfigError(`${name} must not be empty`)
  else if (problemWith(text, shape) === undefined) return text
  throw new ConfigError(`${name} must be ${expected(shape)}, not ${JSON.stringify(text)}`)
}

function takesList(shape: Shape): boolean {
  const choices = isArray(shape['anyOf']) ? (shape['anyOf'] as readonly Shape[]) : [shape]
  return choices.some(({ type }) => type === 'array')
}

/** Items are separated by commas or spaces. */
function listIn(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((each) => each !== '')
}
