/** PostgreSQL's way to read JSON. Numbers are `numeric`, which holds every digit; text is ordered by code point. */
import { type Json, isNumber, numberText } from '../../base/json.ts'
import type { Step } from '../../base/path.ts'
import type { TypeName } from '../../schema/types.ts'
import type { Base, Dialect } from './dialect.ts'
import { type Fragment, type SqlValue, join, literal, param, raw, sql } from './fragment.ts'
import { foldFunctionName } from './postgres-fold.ts'
import { postgresPattern } from './postgres-pattern.ts'

export const POSTGRES: Dialect = {
  placeholder: (n) => `$${n}`,
  read(base, steps, type) {
    const column = steps.length === 1 ? base.columns?.get(String(steps[0])) : undefined
    if (column !== undefined) return raw(column)
    const text = sql`(${base.json} #>> ${pathOf(steps)})`
    // A version with another type of the field may have stored something else there, which must not end the query.
    const isKind = (kind: string): Fragment =>
      sql`jsonb_typeof(${base.json} #> ${pathOf(steps)}) = ${literal(kind)}`
    if (type === 'boolean') return sql`(case ${text} when 'true' then 1 when 'false' then 0 end)`
    if (isNumeric(type)) return sql`(case when ${isKind('number')} then ${text}::numeric end)`
    return sql`(${text} collate "C")`
  },
  exists(base, steps) {
    if (steps.length === 0) return base.present
    return sql`(coalesce(jsonb_typeof(${base.json} #> ${pathOf(steps)}), 'null') <> 'null')`
  },
  isObject: (base, steps) => sql`(jsonb_typeof(${base.json} #> ${pathOf(steps)}) = 'object')`,
  each(base, steps, alias) {
    const array = steps.length === 0 ? base.json : sql`(${base.json} #> ${pathOf(steps)})`
    const element = raw(`${alias}.value`)
    const from = sql`jsonb_array_elements(case when jsonb_typeof(${array}) = 'array' then ${array} end)`
    const self: Base = { json: element, present: sql`(jsonb_typeof(${element}) <> 'null')` }
    return {
      from: sql`${from} with ordinality ${raw(alias)}(value, position)`,
      element: { ...self, scalar: (type) => POSTGRES.read(self, [], type) },
      position: raw(`${alias}.position`),
    }
  },
  value: bind,
  isIn(subject, values, type) {
    if (values.length === 1) return sql`${subject} = ${param(bind(values[0]!, type))}`
    return sql`${subject} = any(${param(arrayText(values.map((value) => String(bind(value, type)))))})`
  },
  isAmong: (subject, select) => sql`${subject} = any(array(${select}))`,
  isKeyOf(subject, { type, mayBeNull, indexedForms, select }) {
    const columns = (value: Fragment): Fragment =>
      join(mayBeNull ? neverNull(value, type) : [...indexedForms.map((form) => form(value)), value], ', ')
    return sql`(${columns(subject)}) in (${select((key) => ({ columns: columns(key) }))})`
  },
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
    // Patterns that mean something else here were taken out of the query before.
    const own = postgresPattern(pattern, flags)!
    return sql`${own.folded ? POSTGRES.fold(subject) : subject} ~ ${param(own.pattern)}`
  },
  alive: () => raw('true'),
  fold: (subject) => sql`(${raw(foldFunctionName())}(${subject}) collate "C")`,
  listOf: (text, order) => sql`string_agg(${text}, ',' order by ${order})`,
}

/** A list of texts in PostgreSQL's own notation for arrays. */
export function arrayText(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`).join(',')}}`
}

/** What is equal exactly where values are the same: equality of what is never null is all that the engine can hash. */
function neverNull(value: Fragment, type: TypeName): readonly Fragment[] {
  const instead = raw(isNumeric(type) || type === 'boolean' ? '0' : `''`)
  return [sql`coalesce(${value}, ${instead})`, sql`(${value} is null)`]
}

/** Names come from a resolved schema; as a literal, because indexes only recognise literals. */
function pathOf(steps: readonly Step[]): Fragment {
  return literal(arrayText(steps.map(String)))
}

/** A value in the form that `read` gives. */
function bind(value: Json, _type: TypeName): SqlValue {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (isNumber(value)) return numberText(value)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function isNumeric(type: TypeName): boolean {
  return type === 'integer' || type === 'double' || type === 'biginteger' || type === 'bigdecimal'
}
