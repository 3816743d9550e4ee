/**
 * Parses the hooks of entity info. Everything that events depend on is checked here, so no hook fails on a
 * write.
 */
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject, member, pointer } from '../../base/json/json.ts'
import { parseProjection } from '../../lang/parse/parse-projection.ts'
import { fault, listAt, otherMembers } from './decode.ts'

const ACTIONS = ['insert', 'update', 'delete'] as const
type HookAction = (typeof ACTIONS)[number]
const KINDS = ['notification', 'audit'] as const
type HookKind = (typeof KINDS)[number]

export interface Hook {
  readonly name: string
  readonly kind: HookKind
  readonly actions: readonly HookAction[]
  readonly projection: Json | undefined
  /** The original configuration; the following three members derive from it. */
  readonly configuration: JsonObject | undefined
  readonly watchProjection: Json | undefined
  readonly includeProjection: Json | undefined
  readonly arrayOrderingSignificant: boolean
  readonly properties: JsonObject
}

export function parseHooks(value: Json, at: string): readonly Hook[] {
  return listAt(value, at).map((each, i) => parseHook(each, pointer(at, i)))
}

/** Each hook adds an event to every write of the entity. */
export const MAX_HOOKS = 50

/** Entities with more hooks from before the limit may keep as many as they have. */
export function checkHookCount(hooks: readonly Hook[], before: readonly Hook[] = []): void {
  if (hooks.length <= Math.max(MAX_HOOKS, before.length)) return
  const message = `an entity has at most ${MAX_HOOKS} hooks, not ${hooks.length}; one hook can watch several fields`
  throw new ServiceError('crud:LimitExceeded', message, { context: 'hooks' })
}

export function printHook({ name, projection, actions, configuration, properties }: Hook): JsonObject {
  return {
    name,
    ...(projection === undefined ? {} : { projection }),
    actions,
    ...(configuration === undefined ? {} : { configuration }),
    ...properties,
  }
}

function parseHook(value: Json, at: string): Hook {
  if (!isObject(value)) throw invalid('a hook is an object', at)
  const name = value.name
  if (typeof name !== 'string' || name.trim() === '') throw invalid('a hook needs a "name"', at)
  const configuration = member(value, 'configuration')
  const configurationAt = pointer(at, 'configuration')
  if (configuration !== undefined && !isObject(configuration)) {
    throw invalid('the configuration of a hook is an object', configurationAt)
  }
  return {
    name,
    actions: parseActions(member(value, 'actions'), pointer(at, 'actions')),
    projection: projectionAt(member(value, 'projection'), pointer(at, 'projection')),
    configuration,
    ...parseConfiguration(configuration ?? {}, configurationAt),
    properties: otherMembers(value, ['name', 'actions', 'projection', 'configuration']),
  }
}

function parseActions(value: Json | undefined, at: string): readonly HookAction[] {
  if (!isArray(value) || value.length === 0) throw invalid('a hook needs a list of "actions"', at)
  for (const [i, each] of value.entries()) {
    if (ACTIONS.some((action) => action === each)) continue
    throw invalid('the actions of a hook are "insert", "update" and "delete"', pointer(at, i))
  }
  return ACTIONS.filter((action) => value.includes(action))
}

function parseConfiguration(
  configuration: JsonObject,
  at: string,
): Pick<Hook, 'kind' | 'watchProjection' | 'includeProjection' | 'arrayOrderingSignificant'> {
  for (const key of Object.keys(configuration)) {
    if (!CONFIGURATION_KEYS.has(key)) throw invalid(`hooks have no configuration "${key}"`, pointer(at, key))
  }
  const { kind = 'notification', arrayOrderingSignificant = false } = configuration
  const known = KINDS.find((each) => each === kind)
  if (!known) throw invalid('the kind of a hook is "notification" or "audit"', pointer(at, 'kind'))
  if (typeof arrayOrderingSignificant !== 'boolean') {
    throw invalid('true or false is expected here', pointer(at, 'arrayOrderingSignificant'))
  }
  return {
    kind: known,
    arrayOrderingSignificant,
    watchProjection: projectionAt(configuration.watchProjection, pointer(at, 'watchProjection')),
    includeProjection: projectionAt(configuration.includeProjection, pointer(at, 'includeProjection')),
  }
}

/** The original projection, after validation. An empty list means no projection. */
function projectionAt(value: Json | undefined, at: string): Json | undefined {
  if (value === undefined || (isArray(value) && value.length === 0)) return value
  try {
    parseProjection(value, at)
    return value
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    throw new ServiceError('metadata:InvalidHook', error.message, { context: at.slice(1) })
  }
}

function invalid(message: string, at: string): ServiceError {
  return fault('metadata:InvalidHook', message, at)
}

const CONFIGURATION_KEYS = new Set([
  'kind',
  'watchProjection',
  'includeProjection',
  'arrayOrderingSignificant',
])
