/**
 * Parses the hooks of entity info. Everything that events depend on is checked here, so no hook fails on a
 * write.
 */
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject, member, pointer } from '../../base/json/json.ts'
import { memoized } from '../../base/memo.ts'
import { parseProjection } from '../../lang/parse/parse-projection.ts'
import { asBoolean } from '../../base/json/decode.ts'
import { fault, listAt, otherMembers } from './decode.ts'

const ACTIONS = ['insert', 'update', 'delete'] as const
type HookAction = (typeof ACTIONS)[number]
const KINDS = ['notification', 'audit'] as const
/** An inert hook has a configuration that only other programs understand. It is stored, and creates no event. */
type HookKind = (typeof KINDS)[number] | 'inert'

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

/** A hook that creates events. */
export type WatchingHook = Hook & { readonly kind: Exclude<HookKind, 'inert'> }

export function isWatching(hook: Hook): hook is WatchingHook {
  return hook.kind !== 'inert'
}

/** The same objects for the same hooks. */
export const watchingHooks = memoized((hooks: readonly Hook[]): readonly WatchingHook[] =>
  hooks.filter(isWatching),
)

/** Keys of a configuration that have no meaning for the kind of the hook. */
export function unknownConfiguration({ kind, configuration = {} }: Hook): readonly string[] {
  if (kind === 'inert') return []
  const known = kind === 'audit' ? [...CONFIGURATION_KEYS, ...AUDIT_KEYS] : CONFIGURATION_KEYS
  return Object.keys(configuration).filter((key) => !known.includes(key))
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
  if (!isObject(value)) throw invalidHook('a hook is an object', at)
  const name = value.name
  if (typeof name !== 'string' || name.trim() === '') throw invalidHook('a hook needs a "name"', at)
  const configuration = member(value, 'configuration')
  const configurationAt = pointer(at, 'configuration')
  if (configuration !== undefined && !isObject(configuration)) {
    throw invalidHook('the configuration of a hook is an object', configurationAt)
  }
  return {
    name,
    actions: parseActions(member(value, 'actions'), pointer(at, 'actions')),
    projection: projectionAt(member(value, 'projection'), pointer(at, 'projection')),
    ...(configuration === undefined
      ? { ...NOT_CONFIGURED, kind: kindFor(name, {}) }
      : parseConfiguration(name, configuration, configurationAt)),
    properties: otherMembers(value, HOOK_KEYS),
  }
}

function parseActions(value: Json | undefined, at: string): readonly HookAction[] {
  if (!isArray(value) || value.length === 0) throw invalidHook('a hook needs a list of "actions"', at)
  for (const [i, each] of value.entries()) {
    if (ACTIONS.some((action) => action === each)) continue
    throw invalidHook('the actions of a hook are "insert", "update" and "delete"', pointer(at, i))
  }
  return ACTIONS.filter((action) => value.includes(action))
}

type Configured = Pick<
  Hook,
  'kind' | 'configuration' | 'watchProjection' | 'includeProjection' | 'arrayOrderingSignificant'
>

function parseConfiguration(name: string, written: JsonObject, at: string): Configured {
  const kind = parseKind(written.kind, pointer(at, 'kind')) ?? kindFor(name, written)
  if (kind === 'inert') return { ...NOT_CONFIGURED, kind, configuration: written }
  const { arrayOrderingSignificant, ...rest } = written
  const isOrdered = arrayOrderingSignificant === undefined ? false : asBoolean(arrayOrderingSignificant)
  if (isOrdered === undefined) {
    throw invalidHook('true or false is expected here', pointer(at, 'arrayOrderingSignificant'))
  }
  return {
    kind,
    configuration:
      arrayOrderingSignificant === undefined ? rest : { ...written, arrayOrderingSignificant: isOrdered },
    arrayOrderingSignificant: isOrdered,
    watchProjection: projectionAt(written.watchProjection, pointer(at, 'watchProjection')),
    includeProjection: projectionAt(written.includeProjection, pointer(at, 'includeProjection')),
  }
}

function parseKind(value: Json | undefined, at: string): HookKind | undefined {
  const known = KINDS.find((each) => each === value)
  if (value === undefined || known) return known
  throw invalidHook('the kind of a hook is "notification" or "audit"', at)
}

/** The kind of a hook that names none, as Lightblue would have understood it. */
function kindFor(name: string, configuration: JsonObject): HookKind {
  if (name === 'auditHook' || Object.hasOwn(configuration, 'entityName')) return 'audit'
  const keys = Object.keys(configuration)
  const isForeign = keys.length > 0 && !keys.some((key) => CONFIGURATION_KEYS.includes(key))
  return isForeign ? 'inert' : 'notification'
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

function invalidHook(message: string, at: string): ServiceError {
  return fault('metadata:InvalidHook', message, at)
}

export const HOOK_KEYS = ['name', 'actions', 'projection', 'configuration']
export const CONFIGURATION_KEYS = ['kind', 'watchProjection', 'includeProjection', 'arrayOrderingSignificant']
/** Configuration of audit hooks in Lightblue: where they wrote. Audit hooks of Smalt create events. */
const AUDIT_KEYS = ['entityName', 'version']

const NOT_CONFIGURED = {
  configuration: undefined,
  watchProjection: undefined,
  includeProjection: undefined,
  arrayOrderingSignificant: false,
}
