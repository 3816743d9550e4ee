/** PostgreSQL's access to JSON. Numbers are `numeric`, which keeps every digit; text is ordered by code point. */
import { type Json, isNumber, numberText } from '../../base/json/json.ts'
import type { Step } from '../../base/path.ts'
import type { Kind } from '../../schema/kind.ts'
import type { Base, Dialect, Place } from './dialect.ts'
import { type Fragment, type SqlValue, join, literal, param, raw, sql } from './fragment.ts'
import { foldFunctionName } from './postgres-fold.ts'
import { postgresPattern } from './pattern/postgres-pattern.ts'
import type { ReadAs } from './read-as.ts'

export const POSTGRES: Dialect = {
  placeholder: (n) => `$${n}`,
  read(base, steps, type) {
    const column = steps.length === 1 ? base.columns?.get(String(steps[0])) : undefined
    if (column !== undefined) return raw(column)
    const held = base.column?.(steps, type)
    if (held) return held
    if (type === 'onlyBoolean') return asBoolean(textOf(base, steps, 'boolean'))
    if (type === 'onlyNumber') return sql`(${textOf(base, steps, 'number')}::numeric)`
    if (type === 'onlyText') return sql`(${textOf(base, steps, 'text')} collate "C")`
    const place = placeOf(base, steps)
    const text = sql`(${place.json} #>> ${pathOf(place.steps)})`
    // A version with another type of the field may have stored another kind of value; the cast must not fail
    // on it.
    const isKind = (kind: string): Fragment =>
      sql`jsonb_typeof(${place.json} #> ${pathOf(place.steps)}) = ${literal(kind)}`
    if (type === 'boolean') return asBoolean(text)
    if (isNumeric(type)) return sql`(case when ${isKind('number')} then ${text}::numeric end)`
    return sql`(${text} collate "C")`
  },
  exists(base, steps) {
    if (steps.length === 0) return base.present
    const place = placeOf(base, steps)
    return sql`(coalesce(jsonb_typeof(${place.json} #> ${pathOf(place.steps)}), 'null') <> 'null')`
  },
  isKind(base, steps, kind) {
    if (steps.length === 0) return base.isKind!(kind)
    return sql`(${onlyOf(base, steps, kind)} is not null)`
  },
  each(base, steps, { alias, isMixed }) {
    const place = placeOf(base, steps)
    const plain = place.steps.length === 0 ? place.json : sql`(${place.json} #> ${pathOf(place.steps)})`
    const array = isMixed
      ? onlyOf(base, steps, 'array')
      : sql`case when jsonb_typeof(${plain}) = 'array' then ${plain} end`
    const element = raw(`${alias}.value`)
    const from = sql`jsonb_array_elements(${array})`
    const self: Base = { json: element, present: sql`(jsonb_typeof(${element}) <> 'null')` }
    const isKind = (kind: Kind): Fragment =>
      kind === 'any' ? self.present : sql`(jsonb_typeof(${element}) = ${literal(JSON_TYPES[kind])})`
    return {
      from: sql`${from} with ordinality ${raw(alias)}(value, position)`,
      element: { ...self, isKind, scalar: (type) => POSTGRES.read(self, [], type) },
      position: raw(`${alias}.position`),
    }
  },
  value: bind,
  isIn(subject, values, type) {
    if (values.hasOne) return sql`${subject} = ${values.encoded(([only]) => bind(only!, type))}`
    const list = values.encoded((all) => arrayText(all.map((value) => String(bind(value, type)))))
    return sql`${subject} = any(${list})`
  },
  isAmong: (subject, select) => sql`${subject} = any(array(${select}))`,
  isKeyOf(subject, { type, mayBeNull, indexedForms, select }) {
    const columns = (value: Fragment): Fragment =>
      join(mayBeNull ? neverNull(value, type) : [...indexedForms.map((form) => form(value)), value], ', ')
    return sql`(${columns(subject)}) in (${select((key) => ({ columns: columns(key) }))})`
  },
  isThere: (subject) => sql`${subject} is not null`,
  isSame: (a, b) => sql`${a} is not distinct from ${b}`,
  isSameKey(a, b, type) {
    const [x, y] = [neverNull(a, type), neverNull(b, type)]
    return join(
      x.map((value, i) => sql`${value} = ${y[i]!}`),
      ' and ',
    )
  },
  direction: (descending) => raw(descending ? 'desc nulls last' : 'asc nulls first'),
  matches(subject, pattern, flags) {
    // `answers` has excluded patterns without an exact equivalent, so there is one.
    const own = postgresPattern(pattern, flags)!
    return sql`${own.folded ? POSTGRES.fold(subject) : subject} ~ ${param(own.pattern)}`
  },
  alive: () => raw('true'),
  fold: (subject) => sql`(${raw(foldFunctionName())}(${subject}) collate "C")`,
  listOf: (text, order) => sql`string_agg(${text}, ',' order by ${order})`,
  unlockedOnly: raw('for update skip locked'),
}

/** A list of texts, or of texts and nulls, in PostgreSQL's array syntax. */
export function arrayText(values: readonly (string | null)[]): string {
  return `{${values.map((value) => (value === null ? 'null' : quoted(value))).join(',')}}`
}

function quoted(text: string): string {
  return SPECIAL.test(text) ? `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"` : `"${text}"`
}

const SPECIAL = /["\\]/

/**
 * Values that are equal exactly where the originals are the same, null included. They are never null, because
 * PostgreSQL hashes only plain equality.
 */
function neverNull(value: Fragment, type: ReadAs): readonly Fragment[] {
  const isNumber = isNumeric(type) || type === 'boolean' || type === 'onlyNumber' || type === 'onlyBoolean'
  const instead = raw(isNumber ? '0' : `''`)
  return [sql`coalesce(${value}, ${instead})`, sql`(${value} is null)`]
}

/** Where the value at the end of the steps is: in a column of its own member, or in the document. */
export function placeOf(base: Base, steps: readonly Step[]): Place {
  return base.member?.(steps) ?? { json: base.json, steps }
}

/** Names come from a resolved schema. A literal, because indexes match literals only. */
function pathOf(steps: readonly Step[]): Fragment {
  return literal(arrayText(steps.map(String)))
}

/**
 * The value if it is of the kind, otherwise null, also where a value on the way is neither object nor array:
 * strict paths make that an error, which is suppressed.
 */
function onlyOf(base: Base, steps: readonly Step[], kind: Kind): Fragment {
  const place = placeOf(base, steps)
  const path = place.steps.map((step) =>
    typeof step === 'string' ? `.${JSON.stringify(step)}` : subscript(step),
  )
  const isFitting = kind === 'any' ? '!= "null"' : `== "${JSON_TYPES[kind]}"`
  const filtered = `strict $${path.join('')} ? (@.type() ${isFitting})`
  return sql`jsonb_path_query_first(${place.json}, ${literal(filtered)}, '{}', true)`
}

function subscript(index: number): string {
  if (index >= 0) return `[${index}]`
  return index === -1 ? '[last]' : `[last - ${-1 - index}]`
}

function textOf(base: Base, steps: readonly Step[], kind: Kind): Fragment {
  return sql`(${onlyOf(base, steps, kind)} #>> '{}')`
}

function asBoolean(text: Fragment): Fragment {
  return sql`(case ${text} when 'true' then 1 when 'false' then 0 end)`
}

const JSON_TYPES: Readonly<Record<Exclude<Kind, 'any'>, string>> = {
  boolean: 'boolean',
  number: 'number',
  text: 'string',
  object: 'object',
  array: 'array',
}

/** A value in the form that `read` returns. */
function bind(value: Json, _type: ReadAs): SqlValue {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (isNumber(value)) return numberText(value)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function isNumeric(type: ReadAs): boolean {
  return type === 'integer' || type === 'double' || type === 'biginteger' || type === 'bigdecimal'
}
