/** The view of a caller on a schema. It is computed once for each pair, because every request needs it. */
import type { JsonObject } from '../base/json/json.ts'
import { memoized } from '../base/memo.ts'
import { parsePath } from '../base/path.ts'
import type { ProjectionItem } from '../lang/projection.ts'
import type { Field, FieldOperation, RoleList } from '../schema/field.ts'
import { type EntityOperation, type Schema, allFields } from '../schema/schema.ts'
import { type Caller, admits } from './caller.ts'
import {
  ALWAYS,
  type Condition,
  NO_DOCUMENT,
  type Rule,
  type Rules,
  allOf,
  conditionOf,
  testOf,
} from './conditions.ts'
import type { Visibility } from './requests.ts'

export interface View {
  readonly schema: Schema
  /** Whether the caller may do the operation with any document of the entity. */
  readonly admitsTo: (operation: EntityOperation) => boolean
  /** The documents with which an admitted caller may do the operation. */
  readonly rulesFor: (operation: EntityOperation) => Rules
  /** The documents in which the caller may do the operation with the field. */
  readonly conditionOn: (field: Field, operation: FieldOperation) => Condition
  /** Whether the caller may read the field in every document that the caller can find. */
  readonly alwaysShows: (field: Field) => boolean
  /** The visibility of documents that match all row rules of the caller. */
  readonly visibility: Visibility
  /** The visibility of one document. Present if fields have row rules. */
  readonly visibilityOf?: (document: JsonObject) => Visibility
}

export const viewOf = memoized((schema: Schema) => memoized((caller: Caller) => createView(schema, caller)))

function createView(schema: Schema, caller: Caller): View {
  const { access } = schema
  const admitted = {
    find: admits(access.find, caller),
    insert: admits(access.insert, caller),
    update: admits(access.update, caller),
    delete: admits(access.delete, caller),
  }
  const conditionFor = conditionsBy(schema, caller)
  const conditionOn = (field: Field, operation: FieldOperation): Condition => {
    if (!admitted[operation]) return 'never'
    const lists = field.roles[operation]
    return lists.length === 0 ? ALWAYS : allOf(lists.map(conditionFor))
  }
  const isHiddenWhen = (field: Field, isUnmet: (rule: Rule) => boolean): boolean => {
    const condition = conditionOn(field, 'find')
    return condition === 'never' || condition.some(isUnmet)
  }
  const visibility = visibilityOn(schema, (field) => isHiddenWhen(field, () => false))
  const visibilityOf = visibilitiesBy(schema, { conditionOn, isHiddenWhen, visibility })
  return {
    schema,
    admitsTo: (operation) => admitted[operation],
    rulesFor(operation) {
      const condition = conditionFor(access[operation])
      return condition === 'never' ? NO_DOCUMENT : condition
    },
    conditionOn,
    alwaysShows: (field) => !isHiddenWhen(field, () => true),
    visibility,
    ...(visibilityOf && { visibilityOf }),
  }
}

/** Equal lists yield identical rule objects, so that rules of several fields can be deduplicated by identity. */
function conditionsBy(schema: Schema, caller: Caller): (list: RoleList) => Condition {
  const known = new Map<string, Condition>()
  return memoized((list) => {
    const isPlain = list.every((entry) => typeof entry === 'string')
    const text = isPlain ? '' : JSON.stringify(list)
    const condition = known.get(text) ?? conditionOf(list, schema, caller)
    if (!isPlain) known.set(text, condition)
    return condition
  })
}

interface VisibilityContext {
  readonly conditionOn: View['conditionOn']
  readonly isHiddenWhen: (field: Field, isUnmet: (rule: Rule) => boolean) => boolean
  readonly visibility: Visibility
}

/** Documents that match the same rules share one `Visibility` object. Undefined if no field has a row rule. */
function visibilitiesBy(
  schema: Schema,
  { conditionOn, isHiddenWhen, visibility }: VisibilityContext,
): View['visibilityOf'] {
  const rules = new Set<Rule>()
  for (const field of allFields(schema.root.fields)) {
    const condition = conditionOn(field, 'find')
    if (condition !== 'never') for (const rule of condition) rules.add(rule)
  }
  if (rules.size === 0) return undefined
  const tests = [...rules].map((rule) => ({ rule, test: testOf(rule) }))
  const known = new Map<string, Visibility>()
  return (document) => {
    const seen = { value: document }
    const met = tests.map(({ test }) => test(seen))
    const key = met.join()
    const found = known.get(key)
    if (found) return found
    const unmet = new Set(tests.filter((_, i) => !met[i]).map(({ rule }) => rule))
    const made = visibilityOn(
      schema,
      (field) => isHiddenWhen(field, (rule) => unmet.has(rule)),
      visibility.isHidden,
    )
    if (known.size >= MAX_CACHED_VISIBILITIES) known.clear()
    known.set(key, made)
    return made
  }
}

/** n rules have up to 2^n combinations, so the cache is bounded. */
const MAX_CACHED_VISIBILITIES = 1_000

/** Fields for which `isHiddenAnyway` holds are excluded by every projection already, so they are not repeated. */
function visibilityOn(
  schema: Schema,
  isHidden: (field: Field) => boolean,
  isHiddenAnyway: (field: Field) => boolean = () => false,
): Visibility {
  const fields = [...allFields(schema.root.fields)]
  return {
    showsId: !isHidden(schema.root.fields.get('_id')!),
    isHidden,
    hidesSome: fields.some(isHidden),
    exclusions: fields.filter((field) => isHidden(field) && !isHiddenAnyway(field)).map(exclusionOf),
  }
}

function exclusionOf({ path }: Field): ProjectionItem<never> {
  return { kind: 'field', pattern: parsePath(path, ''), include: false, recursive: true }
}
