/**
 * The view of a caller on a schema. Every request needs it, so views are kept, one for all callers about whom the access lists of
 * the schema decide alike. Callers choose how many views there are, so the size of all of them together is limited.
 */
import { createHash } from 'node:crypto'
import type { JsonObject } from '../base/json/json.ts'
import { memoized, once } from '../base/memo.ts'
import { parsePath } from '../base/path.ts'
import { SizedRoom } from '../base/sized-cache.ts'
import { spend } from '../base/work/work.ts'
import type { ProjectionItem } from '../lang/projection.ts'
import type { Field, FieldOperation, RoleList } from '../schema/field.ts'
import { type EntityOperation, type Schema, allFields } from '../schema/schema.ts'
import { type Caller, admits } from './caller.ts'
import {
  type Condition,
  NO_DOCUMENT,
  type Rule,
  type Rules,
  allOf,
  conditionOf,
  testOf,
} from './conditions.ts'
import { type ListCombinations, combinationsOf } from './list-combinations.ts'
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

/** In bytes, as far as they can be estimated. */
const MAX_KEPT = 32 * 1024 * 1024

/** One view must not evict all others. */
const MAX_SIZE = MAX_KEPT / 16

const room = new SizedRoom(MAX_KEPT)

export const viewOf = memoized((schema: Schema) => {
  const section = room.section<View>()
  const keyOf = memoized((caller: Caller) => {
    const equivalent = combinationsOf(schema).equivalentOf(caller)
    return equivalent ? rolesKey(equivalent) : `caller ${++lastCaller}`
  })
  return (caller: Caller): View => {
    const key = keyOf(caller)
    const known = section.get(key)
    if (known) return known
    const made = createView(schema, combinationsOf(schema).equivalentOf(caller) ?? caller)
    section.set(key, made, sizeOfView(made))
    return made
  }
})

let lastCaller = 0

/** A digest, because it is kept for each caller, who may have many roles. */
function rolesKey({ roles }: Caller): string {
  return createHash('sha256')
    .update(JSON.stringify([...roles]))
    .digest('base64')
}

function sizeOfView({ schema, visibility, visibilityOf }: View): number {
  const { combinations, fieldCount, ruleCharacters } = combinationsOf(schema)
  const hidden = visibility.hidesSome ? fieldCount * BYTES_PER_FIELD : 0
  const rules = visibilityOf ? ruleCharacters * BYTES_PER_RULE_CHARACTER : 0
  return Math.min(MAX_SIZE, BYTES_PER_VIEW + combinations.length * BYTES_PER_COMBINATION + hidden + rules)
}

const BYTES_PER_VIEW = 2_000
const BYTES_PER_COMBINATION = 64
/** What is made from a visibility while it is kept counts as well: how to strip, cut and project documents. */
const BYTES_PER_FIELD = 80
const BYTES_PER_RULE_CHARACTER = 10

function createView(schema: Schema, caller: Caller): View {
  const { access } = schema
  const lists = combinationsOf(schema)
  spend(lists.combinations.length)
  const admitted = {
    find: admits(access.find, caller),
    insert: admits(access.insert, caller),
    update: admits(access.update, caller),
    delete: admits(access.delete, caller),
  }
  const { conditionFor, conditionForAll } = conditionsBy(schema, lists, caller)
  const conditionOn = (field: Field, operation: FieldOperation): Condition =>
    admitted[operation] ? conditionForAll(field.roles[operation]) : 'never'
  const toFind = (combination: readonly RoleList[]): Condition =>
    admitted.find ? conditionForAll(combination) : 'never'
  const visibility = visibilityOn(schema, { toFind, isUnmet: () => false })
  const visibilityOf = visibilitiesBy(schema, toFind, visibility)
  return {
    schema,
    admitsTo: (operation) => admitted[operation],
    rulesFor(operation) {
      const condition = conditionFor(access[operation])
      return condition === 'never' ? NO_DOCUMENT : condition
    },
    conditionOn,
    alwaysShows: (field) => !isHiddenWhen(conditionOn(field, 'find'), () => true),
    visibility,
    ...(visibilityOf && { visibilityOf }),
  }
}

interface Conditions {
  readonly conditionFor: (list: RoleList) => Condition
  /** For documents in which all lists admit the caller. */
  readonly conditionForAll: (lists: readonly RoleList[]) => Condition
}

/** Equal lists yield identical rule objects, so that rules of several fields can be deduplicated by identity. */
function conditionsBy(schema: Schema, lists: ListCombinations, caller: Caller): Conditions {
  const { numberOf, combinationOf } = lists
  const decide = (list: RoleList): Condition => conditionOf(list, schema, caller)
  const conditionFor = numbered(numberOf, decide)
  return { conditionFor, conditionForAll: numbered(combinationOf, (all) => allOf(all.map(conditionFor))) }
}

/** Computes once per number. What has none belongs to another schema, and is not kept. */
function numbered<K>(numberOf: (key: K) => number | undefined, compute: (key: K) => Condition) {
  const known = new Map<number, Condition>()
  return (key: K): Condition => {
    const number = numberOf(key)
    const found = number === undefined ? undefined : known.get(number)
    if (found) return found
    const made = compute(key)
    if (number !== undefined) known.set(number, made)
    return made
  }
}

type ToFind = (combination: readonly RoleList[]) => Condition

/** Documents that match the same rules share one `Visibility` object. Undefined if no field has a row rule. */
function visibilitiesBy(schema: Schema, toFind: ToFind, visibility: Visibility): View['visibilityOf'] {
  const rules = new Set<Rule>()
  const { combinations, found, fieldCount } = combinationsOf(schema)
  for (const number of found) {
    const condition = toFind(combinations[number]!)
    if (condition !== 'never') for (const rule of condition) rules.add(rule)
  }
  if (rules.size === 0) return undefined
  const tests = [...rules].map((rule) => ({ rule, test: testOf(rule) }))
  // n rules have up to 2^n combinations.
  const section = room.section<Visibility>()
  const size = Math.min(MAX_SIZE, BYTES_PER_VIEW + fieldCount * BYTES_PER_FIELD)
  return (document) => {
    spend(tests.length)
    const seen = { value: document }
    const met = tests.map(({ test }) => test(seen))
    const key = met.map((isMet) => (isMet ? '1' : '0')).join('')
    const known = section.get(key)
    if (known) return known
    const unmet = new Set(tests.filter((_, i) => !met[i]).map(({ rule }) => rule))
    const made = visibilityOn(schema, {
      toFind,
      isUnmet: (rule) => unmet.has(rule),
      isHiddenAnyway: visibility.isHidden,
    })
    section.set(key, made, size)
    return made
  }
}

interface Hiding {
  readonly toFind: ToFind
  readonly isUnmet: (rule: Rule) => boolean
  /** Fields that are excluded by every projection already, so they are not repeated. */
  readonly isHiddenAnyway?: (field: Field) => boolean
}

/** Nothing is kept for each field: those with the same lists are hidden together. */
function visibilityOn(schema: Schema, { toFind, isUnmet, isHiddenAnyway = () => false }: Hiding): Visibility {
  const { combinations, combinationOf, found, fieldCount } = combinationsOf(schema)
  spend(found.size)
  const hidden = new Set([...found].filter((number) => isHiddenWhen(toFind(combinations[number]!), isUnmet)))
  const isHidden = ({ roles }: Field): boolean => {
    const number = combinationOf(roles.find)
    return number !== undefined && found.has(number)
      ? hidden.has(number)
      : isHiddenWhen(toFind(roles.find), isUnmet)
  }
  const exclusions = once(() => {
    spend(fieldCount)
    const fields = hidden.size === 0 ? [] : [...allFields(schema.root.fields)]
    return fields.filter((field) => isHidden(field) && !isHiddenAnyway(field)).map(exclusionOf)
  })
  return {
    showsId: !isHidden(schema.root.fields.get('_id')!),
    isHidden,
    hidesSome: hidden.size > 0,
    get exclusions() {
      return exclusions()
    },
  }
}

function isHiddenWhen(condition: Condition, isUnmet: (rule: Rule) => boolean): boolean {
  return condition === 'never' || condition.some(isUnmet)
}

/** One for each field, because every visibility that hides the field refers to it. */
const exclusionOf = memoized(({ path }: Field): ProjectionItem<never> => {
  return { kind: 'field', pattern: parsePath(path, ''), include: false, recursive: true }
})
