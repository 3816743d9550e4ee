/** SQLite's access to JSON. Big numbers go through functions that return keys in the order of the numbers. */
import { orderKey } from '../../base/decimal.ts'
import { ServiceError } from '../../base/errors.ts'
import { type Json, isNumber, numberText } from '../../base/json/json.ts'
import type { PatternFlags } from '../../base/pattern.ts'
import type { Step } from '../../base/path.ts'
import type { Kind } from '../../schema/kind.ts'
import type { Base, Dialect } from './dialect.ts'
import { type Fragment, type SqlValue, literal, param, raw, sql } from './fragment.ts'
import type { ReadAs } from './read-as.ts'

/** SQLite's own limit of one statement. A condition may be written several times, so that it can be reached below ours. */
const MAX_VARIABLES = 32_766

export const SQLITE: Dialect = {
  placeholder: (n) => {
    if (n > MAX_VARIABLES) throw tooManyVariables()
    return '?'
  },
  read(base, steps, type) {
    if (steps.length === 0) return base.scalar!(type)
    const column = steps.length === 1 ? base.columns?.get(String(steps[0])) : undefined
    if (column !== undefined) return raw(column)
    const held = base.column?.(steps, type)
    if (held) return held
    const path = literal(jsonPath(steps))
    if (isBig(type)) return sql`smalt_number(${base.json} -> ${path})`
    const value = sql`json_extract(${base.json}, ${path})`
    return ofKind(type, value, sql`json_type(${base.json}, ${path})`)
  },
  exists(base, steps) {
    if (steps.length === 0) return base.present
    return sql`(coalesce(json_type(${base.json}, ${literal(jsonPath(steps))}), 'null') <> 'null')`
  },
  isKind(base, steps, kind) {
    if (steps.length === 0) return base.isKind!(kind)
    return isOneOf(sql`json_type(${base.json}, ${literal(jsonPath(steps))})`, kind)
  },
  each(base, steps, { alias, isMixed }) {
    const path = jsonPath(steps)
    const row = raw(alias)
    // `json_each` would return the members of an object, or a scalar itself.
    const holder = isMixed
      ? sql`case json_type(${base.json}, ${literal(path)}) when 'array' then ${base.json} end`
      : base.json
    // The element of an array of big numbers as its source text, which has all digits.
    const text = sql`(${base.json} -> (${literal(`${path}[`)} || ${row}.key || ']'))`
    const scalar = (type: ReadAs): Fragment =>
      isBig(type) ? sql`smalt_number(${text})` : ofKind(type, sql`${row}.value`, sql`${row}.type`)
    const isKind = (kind: Kind): Fragment => isOneOf(sql`${row}.type`, kind)
    const json = sql`case when ${row}.type in ('object', 'array') then ${row}.value end`
    return {
      from: sql`json_each(${holder}, ${literal(path)}) ${row}`,
      element: { json, scalar, text, isKind, present: sql`(${row}.type <> 'null')` },
      position: sql`${row}.key`,
    }
  },
  value: bind,
  isIn(subject, values, type) {
    if (values.hasOne) return sql`${subject} = ${values.encoded(([only]) => bind(only!, type))}`
    const list = values.encoded((all) => listText(all, type))
    return sql`${subject} in (select value from json_each(${list}))`
  },
  isAmong: (subject, select) => sql`${subject} in (${select})`,
  isKeyOf(subject, { mayBeNull, select }) {
    const found = sql`${subject} in (${select((key) => ({ columns: key }))})`
    if (!mayBeNull) return found
    const nulls = select((key) => ({ columns: raw('1'), where: sql`${key} is null` }))
    return sql`(${found} or (${subject} is null and exists (${nulls})))`
  },
  // An index has no range for `is not null`; every value is greater than this one.
  isThere: (subject) => sql`${subject} > -9e999`,
  isSame: (a, b) => sql`${a} is ${b}`,
  isSameKey: (a, b) => sql`${a} is ${b}`,
  direction: (descending) => raw(descending ? 'desc' : 'asc'),
  matches: (subject, pattern, flags) =>
    sql`smalt_match(${subject}, ${param(pattern)}, ${param(flagLetters(flags))})`,
  alive: (row) => sql`smalt_alive(${row})`,
  fold: (subject) => sql`smalt_fold(${subject})`,
  listOf: (text, order) => sql`group_concat(${text}, ',' order by ${order})`,
  // There is one writer.
  unlockedOnly: raw(''),
}

/** The document of a row; `_id` has its own column. The qualifier names the table where there are several. */
export function documentOf(qualifier: string): Base {
  const columns = new Map([['_id', `${qualifier}id`]])
  return { json: raw(`${qualifier}doc`), present: raw('true'), columns }
}

export const DOCUMENT: Base = documentOf('')

/** The JSON text of a value, with every digit of a number. */
export function jsonTextOf(base: Base, steps: readonly Step[]): Fragment {
  return steps.length === 0 ? base.text! : sql`(${base.json} -> ${literal(jsonPath(steps))})`
}

/** Names come from a resolved schema; quoted as JSON strings they equal the keys in the document's text. */
function jsonPath(steps: readonly Step[]): string {
  return steps.reduce<string>((path, step) => {
    if (typeof step === 'string') return `${path}.${JSON.stringify(step)}`
    return step < 0 ? `${path}[#${step}]` : `${path}[${step}]`
  }, '$')
}

/** A value in the form in which SQLite reads it from JSON. */
export function bind(value: Json, type: ReadAs): SqlValue {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (isNumber(value)) {
    if (isBig(type)) return orderKey(numberText(value))
    // Beyond 2^53, the digits of a number may denote another integer than the number itself is.
    const isItself = typeof value === 'number' && (Number.isSafeInteger(value) || !Number.isInteger(value))
    return isItself ? value : numberAsRead(numberText(value))
  }
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** As SQLite reads the same number from a document, whatever type the version that stored it gave it. */
function numberAsRead(text: string): SqlValue {
  const integer = /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined
  return integer !== undefined && BigInt.asIntN(64, integer) === integer ? integer : Number(text)
}

function listText(values: readonly Json[], type: ReadAs): string {
  return JSON.stringify(values.map((value) => (isBig(type) ? bind(value, type) : value)))
}

/** Types whose values exceed SQLite's numbers; a value that is not a number has no key. */
function isBig(type: ReadAs): boolean {
  return type === 'biginteger' || type === 'bigdecimal' || type === 'onlyNumber'
}

/** The value, or null when it is of another kind; `type` is SQLite's name of the kind. */
function ofKind(reading: ReadAs, value: Fragment, type: Fragment): Fragment {
  if (reading === 'onlyText') return sql`(case ${type} when 'text' then ${value} end)`
  if (reading === 'onlyBoolean') return sql`(case ${type} when 'true' then 1 when 'false' then 0 end)`
  return value
}

function isOneOf(type: Fragment, kind: Kind): Fragment {
  return sql`(${type} in (${raw(SQLITE_TYPES[kind])}))`
}

const SQLITE_TYPES: Readonly<Record<Kind, string>> = {
  boolean: `'true', 'false'`,
  number: `'integer', 'real'`,
  text: `'text'`,
  object: `'object'`,
  array: `'array'`,
  any: `'true', 'false', 'integer', 'real', 'text', 'object', 'array'`,
}

function flagLetters(flags: PatternFlags): string {
  return `${flags.caseInsensitive ? 'i' : ''}${flags.multiline ? 'm' : ''}${flags.extended ? 'x' : ''}${flags.dotall ? 's' : ''}`
}

function tooManyVariables(): ServiceError {
  const message = `the request would need more than ${MAX_VARIABLES} values in one statement; ask with fewer conditions, through fewer references, or as a caller with fewer roles`
  return new ServiceError('crud:LimitExceeded', message)
}
