/** Hooks that are being written by a form. Members that the form does not know stay as they are. */
import { type Json, type JsonObject, isArray, isObject } from '../client/json.ts'
import { withMember } from './members.ts'

export const ACTIONS = ['insert', 'update', 'delete'] as const

export const NEW_HOOK: JsonObject = {
  name: '',
  actions: [...ACTIONS],
  configuration: { watchProjection: [{ field: '', recursive: true }] },
}

/** Whether a form can show it; any other value is shown as JSON. */
export function isHook(value: Json): value is JsonObject {
  if (!isObject(value)) return false
  const { name = '', actions = [] } = value
  return typeof name === 'string' && isArray(actions) && actions.every((each) => typeof each === 'string')
}

const CONFIGURATION_KEYS = ['kind', 'watchProjection', 'includeProjection', 'arrayOrderingSignificant']

/** The configuration if a form can show it: that of another program has none of the members that Smalt knows. */
export function configurationIn({ configuration }: JsonObject): JsonObject | undefined {
  if (configuration === undefined) return {}
  if (!isObject(configuration)) return undefined
  const keys = Object.keys(configuration)
  const isOurs = keys.length === 0 || keys.some((key) => CONFIGURATION_KEYS.includes(key))
  return isOurs ? configuration : undefined
}

/** The hook with another member of its configuration; undefined removes it, and the last one the configuration. */
export function withConfigured(hook: JsonObject, name: string, value: Json | undefined): JsonObject {
  const next = withMember(configurationIn(hook) ?? {}, name, value)
  return withMember(hook, 'configuration', Object.keys(next).length === 0 ? undefined : next)
}

/** Actions that the form does not know stay, and the service says what is wrong with them. */
export function withAction(hook: JsonObject, action: string, isChosen: boolean): JsonObject {
  const before = isArray(hook['actions']) ? hook['actions'] : []
  const others = before.filter((each) => each !== action)
  return { ...hook, actions: isChosen ? [...others, action].toSorted(byOrder) : others }
}

function byOrder(a: Json, b: Json): number {
  return ACTIONS.findIndex((each) => each === a) - ACTIONS.findIndex((each) => each === b)
}

/** A projection that is a list of included fields; undefined for any other, which is shown as JSON. */
export function includedIn(projection: Json | undefined): readonly JsonObject[] | undefined {
  if (projection === undefined) return []
  const parts = isArray(projection) ? projection : [projection]
  return parts.every(isIncluded) ? parts : undefined
}

function isIncluded(part: Json): part is JsonObject {
  if (!isObject(part) || typeof part['field'] !== 'string') return false
  return Object.entries(part).every(([name, value]) => {
    if (name === 'field') return true
    return name === 'recursive' ? typeof value === 'boolean' : name === 'include' && value === true
  })
}

/** A single object stays one as long as there is one field. */
export function projectionOf(before: Json | undefined, parts: readonly JsonObject[]): Json | undefined {
  if (parts.length === 0) return undefined
  return parts.length === 1 && isObject(before) ? parts[0] : parts
}
