/**
 * Definitions of sinks: parsed and validated once, stored as text, shown without secrets. Kinds add their own
 * members.
 */
import { memberChecker } from '../base/json/check-members.ts'
import { type Json, type JsonObject, isObject } from '../base/json/json.ts'
import { parseTrusted } from '../base/json/parse-trusted.ts'
import { type Shape, Type } from '../base/json/shape.ts'
import type { EventFilter } from '../store/events.ts'
import {
  DEFAULT_KIND,
  KIND_NAMES,
  SINK_KINDS,
  type SinkDefinition,
  type SinkKindName,
  sinkKind,
} from './kinds.ts'
import { refusal } from './refusal.ts'
import type { NetworkOptions, SinkMember } from './sink-kind.ts'
import type { Transport } from './transport.ts'

export interface ReadingOptions extends NetworkOptions {
  /** The kinds that this service can deliver to; all when absent. */
  readonly kinds?: readonly SinkKindName[]
  /** The definition to replace: its name cannot change, and its secrets stay unless new ones are given. */
  readonly replaced?: SinkDefinition
}

/** Members that only some kinds have. */
const KIND_MEMBERS: Readonly<Record<string, SinkMember>> = Object.assign(
  {},
  ...SINK_KINDS.map(({ shape }) => shape),
)

const text = Type.String()
export const SinkShape = Type.Object(
  {
    name: Type.Optional(text),
    kind: Type.Optional(Type.Enum(KIND_NAMES)),
    url: text,
    ...kindMembers(({ shape }) => Type.Optional(shape)),
    roles: Type.Array(text, { maxItems: 100 }),
    filter: Type.Optional(
      Type.Object(
        {
          entity: Type.Optional(text),
          hook: Type.Optional(text),
          operation: Type.Optional(Type.Enum(['insert', 'update', 'delete'])),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
)

/** The shapes of the members that only some kinds have. */
export function kindMembers(shapeOf: (member: SinkMember) => Shape): Readonly<Record<string, Shape>> {
  return Object.fromEntries(Object.entries(KIND_MEMBERS).map(([name, member]) => [name, shapeOf(member)]))
}

export function readDefinition(body: Json | undefined, options: ReadingOptions): SinkDefinition {
  if (!isObject(body)) throw refusal('the body must be a JSON object', '')
  checkShape(body)
  const { url, roles, filter = {}, kind = DEFAULT_KIND } = body as unknown as Given
  const record = sinkKind(kind)
  if (!record || !(options.kinds ?? KIND_NAMES).includes(kind)) {
    throw refusal(`sinks of the kind "${kind}" cannot be delivered to here`, '/kind')
  }
  if (roles.length === 0 || !roles.every((role) => role.trim() !== '')) {
    throw refusal('"roles" must name at least one role, since a sink sees what they may see', '/roles')
  }
  const name = readName(body, options)
  refuseMembersOfOthers(body, kind)
  const { allowPrivateAddresses, replaced } = options
  const same = replaced?.kind === kind ? replaced : undefined
  const own = record.read(body, { allowPrivateAddresses, replaced: same })
  // the order of members is fixed, because a configured sink is compared with the stored text of its
  // definition
  return { name, url, roles: [...new Set(roles)], filter, kind, ...own } as unknown as SinkDefinition
}

interface Given {
  readonly url: string
  readonly roles: readonly string[]
  readonly filter?: EventFilter
  readonly kind?: SinkKindName
}

const EXPECTED: Readonly<Record<string, string>> = {
  name: 'must be a string',
  kind: `must be ${KIND_NAMES.map((name) => `"${name}"`).join(' or ')}`,
  url: 'must be a string: where events are sent to',
  ...Object.fromEntries(Object.entries(KIND_MEMBERS).map(([name, { expected }]) => [name, expected])),
  roles: 'must be an array of strings',
  filter: 'may hold entity, hook (strings) and operation ("insert", "update" or "delete")',
}

const checkMembers = memberChecker(SinkShape.properties, {
  refuse: refusal,
  unknown: (name) => `no sink knows the key "${name}"`,
  expected: EXPECTED,
  otherwise: 'has the wrong type',
})

function checkShape(body: JsonObject): void {
  checkMembers(body)
  for (const name of ['url', 'roles']) {
    if (!Object.hasOwn(body, name)) throw refusal(`"${name}" ${EXPECTED[name]}`, `/${name}`)
  }
}

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

function readName({ name }: JsonObject, { replaced }: ReadingOptions): string {
  if (replaced && (name === undefined || name === replaced.name)) return replaced.name
  if (replaced) throw refusal('the name of a sink cannot be changed', '/name')
  if (typeof name === 'string' && NAME.test(name)) return name
  const rule = 'begins with a letter and has at most 64 letters, digits, "_" and "-"'
  throw refusal(`"name" says what the sink is called: it ${rule}`, '/name')
}

function refuseMembersOfOthers(body: JsonObject, kind: SinkKindName): void {
  for (const { kind: other, shape } of SINK_KINDS) {
    if (other === kind) continue
    for (const [name, { noun }] of Object.entries(shape)) {
      if (!Object.hasOwn(body, name)) continue
      throw refusal(`only sinks of the kind "${other}" have ${noun}`, `/${name}`)
    }
  }
}

/** The stored form, with secrets. */
export function printDefinition(definition: SinkDefinition): string {
  return JSON.stringify(definition)
}

export function parseDefinition(kept: string): SinkDefinition {
  return parseTrusted(kept) as unknown as SinkDefinition
}

/** The form for callers who may manage sinks: without secrets. */
export function showDefinition(definition: SinkDefinition): JsonObject {
  const { name, kind, url, roles, filter } = definition
  return { name, kind, url, roles, filter: { ...filter }, ...sinkKind(kind)?.show(definition) }
}

/** Throws for a kind that only a later version of Smalt supports. */
export function openTransport(definition: SinkDefinition, options: NetworkOptions): Transport {
  const record = sinkKind(definition.kind)
  if (record) return record.open(definition, options)
  // the message contains only the name, because the rest of the definition may be secret
  throw new Error(`the sink ${definition.name} is of a kind that cannot be delivered to here`)
}
