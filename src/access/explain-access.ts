/**
 * Explains why a caller may do an operation, may not, or may with some documents only. It uses the functions that
 * authorize requests, so that the explanation cannot differ from the decision.
 */
import type { Json, JsonObject } from '../base/json/json.ts'
import type { EntityOperation } from '../schema/schema.ts'
import { type AccessEntry, roleOf } from '../schema/field.ts'
import { selectionRules } from './authorize.ts'
import { type Caller, applicableEntries } from './caller.ts'
import { type Condition, NO_DOCUMENT, allOf, boundTo, conditionOf } from './conditions.ts'
import { type DecidingList, type Question, decidingLists, selects } from './deciding-lists.ts'
import { type View, viewOf } from './view.ts'

type Decision = 'allow' | 'deny' | 'conditional'

export interface AccessExplanation {
  readonly decision: Decision
  readonly rule: RuleExplanation
  /** The row rules as written in the metadata; a document must match all of them. */
  readonly where?: readonly Json[]
  readonly reason: string
}

/** The list that made the decision. */
interface RuleExplanation {
  /** JSON pointer into the schema. */
  readonly at: string
  /** Path of the field that declares the list. Absent: the entity declares it. */
  readonly field?: string
  readonly operation: EntityOperation
  readonly list: readonly AccessEntry[]
  /** The entries that admit the caller. */
  readonly entries: readonly AccessEntry[]
  readonly because: Because
  /** Whether a parent of the field, or the entity, declares the list. */
  readonly inherited: boolean
}

/** `unanswered`: row rules apply to the caller, but the caller lacks the values that the rules compare with. */
type Because = 'role' | 'anyone' | 'noone' | 'empty' | 'unlisted' | 'unanswered'

export function explainAccess(question: Question, caller: Caller): AccessExplanation {
  const { schema } = question
  const condition = conditionFor(question, viewOf(schema)(caller))
  const lists = decidingLists(question, caller).map((each) => ({
    ...each,
    condition: conditionOf(each.list, schema, caller),
  }))
  const explain = (each: DecidingList): RuleExplanation => explainRule(each, question, caller)
  if (condition === 'never') {
    const rule = explain(lists.find((each) => each.condition === 'never')!)
    return { decision: 'deny', rule, reason: denialReason(rule) }
  }
  const narrowing = lists.filter((each) => each.condition.length > 0)
  if (condition.length === 0 || narrowing.length === 0) {
    const rule = explain(lists.at(-1)!)
    return { decision: 'allow', rule, reason: `${admission(rule)}${inheritance(rule)}` }
  }
  const rule = explain(narrowing.at(-1)!)
  const where = narrowing.map((each) => whereOf(explain(each)))
  const reason = `${admission(rule)}, but only to documents that match "where"${inheritance(rule)}`
  return { decision: 'conditional', rule, where, reason }
}

/** The condition by which `authorize.ts` narrows such requests. */
function conditionFor({ operation, trail = [] }: Question, view: View): Condition {
  if (!view.admitsTo(operation)) return 'never'
  const rules = selects(operation) ? selectionRules(operation, view) : view.rulesFor(operation)
  if (rules.some((rule) => NO_DOCUMENT.includes(rule))) return 'never'
  const field = trail.at(-1)
  return field && operation !== 'delete' ? allOf([rules, view.conditionOn(field, operation)]) : rules
}

function explainRule(
  { list, at, operation, path }: DecidingList,
  { schema, trail = [] }: Question,
  caller: Caller,
): RuleExplanation {
  const counting = applicableEntries(list, caller)
  const entries = counting.filter((entry) => typeof entry === 'string' || boundTo(entry, schema, caller))
  return {
    at,
    ...(path === undefined ? {} : { field: path }),
    operation,
    list,
    entries,
    because: becauseOf(list, counting, entries),
    inherited: trail.length > 0 && path !== trail.at(-1)!.path,
  }
}

function becauseOf(
  list: readonly AccessEntry[],
  counting: readonly AccessEntry[],
  entries: readonly AccessEntry[],
): Because {
  if (list.length === 0) return 'empty'
  if (list.some((entry) => roleOf(entry) === 'noone')) return 'noone'
  if (counting.length === 0) return 'unlisted'
  if (entries.length === 0) return 'unanswered'
  return entries.some((entry) => roleOf(entry) !== 'anyone') ? 'role' : 'anyone'
}

/** The entries of a list are alternatives. */
function whereOf({ entries }: RuleExplanation): Json {
  const wheres = entries.flatMap((entry) => (typeof entry === 'string' ? [] : [entry.where]))
  return wheres.length === 1 ? wheres[0]! : ({ $or: wheres } satisfies JsonObject)
}

function denialReason(rule: RuleExplanation): string {
  const list = nameOf(rule)
  if (rule.because === 'empty') return `${list} is empty or absent, so nobody is admitted`
  if (rule.because === 'noone') return `${list} holds "noone", which admits nobody`
  if (rule.because === 'unlisted') return `${list} names none of the caller's roles`
  return `the rules in ${list} ask for something that is not known of the caller, so they match no document`
}

function admission(rule: RuleExplanation): string {
  const roles = [...new Set(rule.entries.map((entry) => `"${roleOf(entry)}"`))]
  return `${nameOf(rule)} admits ${roles.join(', ')}`
}

function inheritance({ inherited }: RuleExplanation): string {
  return inherited ? '; the field has no list of its own that says more' : ''
}

function nameOf({ operation, field }: RuleExplanation): string {
  return `the list "${operation}" of ${field === undefined ? 'the entity' : `"${field}"`}`
}
