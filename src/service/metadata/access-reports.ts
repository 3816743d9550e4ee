/** Access reports: explains one access decision, lists the access of a version as a table, and lints access lists. */
import type { Caller } from '../../access/caller.ts'
import { explainAccess } from '../../access/explain-access.ts'
import { accessTable, reachOf, reachesIn } from '../../access/reach.ts'
import { ServiceError, invalidRequest } from '../../base/errors.ts'
import { memberChecker } from '../../base/json/check-members.ts'
import { type Json, type JsonObject, isObject } from '../../base/json/json.ts'
import type { Limits } from '../../base/limits.ts'
import { plainSchema } from '../../metadata/compile.ts'
import type { EntityInfo } from '../../metadata/documents/entity-info.ts'
import { lint } from '../../metadata/lint/lint.ts'
import type { Finding } from '../../metadata/finding.ts'
import type { Others } from '../../metadata/lint/subject.ts'
import type { Registry } from '../../metadata/registry.ts'
import type { Field } from '../../schema/field.ts'
import type { EntityOperation, Schema } from '../../schema/schema.ts'
import { fieldsOnPath } from '../../schema/fields-on-path.ts'
import { AccessQuestionShape } from './metadata-shapes.ts'

/** The decision for a hypothetical caller, who need not exist. */
export function explainedAccess(registry: Registry, body: Json | undefined): Json {
  const { caller, entity, version, field, operation } = readQuestion(body)
  const schema = schemaFor(registry, entity, version)
  const question = { entity, version: schema.version, ...(field !== undefined && { field }), op: operation }
  if (schema.status === 'disabled') {
    const rule = { at: '/status/value', because: 'disabled' }
    return {
      ...question,
      decision: 'deny',
      rule,
      reason: `version ${schema.version} is disabled, so nobody may`,
    }
  }
  const trail = field === undefined ? undefined : fieldsTo(schema, field)
  const { rule, ...explanation } = explainAccess({ schema, operation, ...(trail && { trail }) }, caller)
  return { ...question, ...explanation, rule: { ...rule } }
}

export function accessOf(
  registry: Registry,
  { entity, version }: { readonly entity: string; readonly version: string | undefined },
  { resultBytes }: Pick<Limits, 'resultBytes'>,
): Json {
  return accessTable(schemaFor(registry, entity, version), resultBytes)
}

/**
 * Findings for the active versions. They are computed again after a change of the entity or of an entity it
 * was compared with.
 */
export function findingsIn(registry: Registry, entity: string): readonly Finding[] {
  const info = registry.infoOf(entity)
  const others = othersIn(registry)
  const known = knownFindings.get(info)
  if (known?.seen.every(({ name, version, other }) => others(name, version)?.schema === other)) {
    return known.findings
  }
  const seen: Seen[] = []
  const watched: Others = (name, version) => {
    const other = others(name, version)
    seen.push({ name, version, other: other?.schema })
    return other
  }
  const documents = registry.versionsOf(entity)
  const schemas = documents.map((each) => plainSchema(info, each))
  const findings = lint(info, schemas, { access: { reachesIn, reachOf }, others: watched, documents })
  knownFindings.set(info, { findings, seen })
  return findings
}

/** A schema that a reference leads to; `other` is undefined if it does not exist. */
interface Seen {
  readonly name: string
  readonly version: string | undefined
  readonly other: Schema | undefined
}

/** Keyed by an object that is created anew with every change of its entity. */
const knownFindings = new WeakMap<
  EntityInfo,
  { readonly findings: readonly Finding[]; readonly seen: readonly Seen[] }
>()

/** A reference may lead to an entity or version that does not exist yet. */
function othersIn(registry: Registry): Others {
  return (entity, version) => {
    try {
      return { schema: registry.schemaOf(entity, version), info: registry.infoOf(entity) }
    } catch (error) {
      if (error instanceof ServiceError) return undefined
      throw error
    }
  }
}

export function findingsOf(registry: Registry, entity: string): Json {
  return { entity, findings: findingsIn(registry, entity).map((each) => ({ ...each })) }
}

interface Question {
  readonly caller: Caller
  readonly entity: string
  readonly version?: string
  readonly field?: string
  readonly operation: EntityOperation
}

const EXPECTED: Readonly<Record<string, string>> = {
  roles: 'must be an array of texts, such as ["hr"]',
  claims: 'must be an object, such as {"team": "north"}',
  op: 'must be "find", "insert", "update" or "delete"',
}

const checkMembers = memberChecker(AccessQuestionShape.properties, {
  refuse: invalidRequest,
  unknown: (key) => `a question about access has no "${key}"`,
  expected: EXPECTED,
  otherwise: 'must be a text',
})

function readQuestion(body: Json | undefined): Question {
  if (!isObject(body)) throw invalidRequest('the body must be a JSON object', '')
  const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
  checkMembers(given)
  for (const key of ['roles', 'entity', 'op']) {
    if (!Object.hasOwn(given, key)) throw invalidRequest(`a question about access needs "${key}"`, '')
  }
  const { principal, claims, version, field } = given as Readonly<Record<string, never>>
  const operation = given['op'] as EntityOperation
  if (operation === 'delete' && field !== undefined) {
    throw invalidRequest('documents are deleted as a whole, so "delete" takes no "field"', '/field')
  }
  return {
    caller: callerFrom(given['roles'] as readonly string[], principal, claims),
    entity: given['entity'] as string,
    ...(version !== undefined && { version }),
    ...(field !== undefined && { field }),
    operation,
  }
}

function callerFrom(roles: readonly string[], principal: string = '', claims: JsonObject = {}): Caller {
  return { principal, roles: new Set(roles), permissions: new Set(), claims }
}

/** Includes disabled versions, which data requests cannot use. */
function schemaFor(registry: Registry, entity: string, version: string | undefined): Schema {
  const info = registry.infoOf(entity)
  const wanted = version ?? info.defaultVersion
  if (wanted === undefined) {
    throw new ServiceError('ERR_NO_METADATA', `the entity "${entity}" has no default version`)
  }
  return plainSchema(info, registry.documentOf(entity, wanted))
}

function fieldsTo(schema: Schema, path: string): readonly Field[] {
  const trail = fieldsOnPath(schema, path)
  if (trail) return trail
  const problem = `version ${schema.version} of "${schema.entity}" has no field "${path}"`
  throw new ServiceError('metadata:InvalidFieldReference', problem, { context: path })
}
