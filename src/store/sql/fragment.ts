/** SQL as a value: text with placeholders, and parameters beside it, never in it. */
import type { Json } from '../../base/json/json.ts'
import { type Arguments, argumentFor } from '../../lang/operand.ts'

export type SqlValue = null | number | bigint | string

export interface Fragment {
  readonly parts: readonly Part[]
  /** Of a text that is partly in a column: the column. It is lost when the fragment becomes a part of another one. */
  readonly beginning?: Beginning
}

/** A text that is cut after `length + 1` characters: it is whole if it has at most `length`. */
interface Beginning {
  readonly text: Fragment
  readonly length: number
}

type Part = string | Known | Argument

interface Known {
  readonly value: SqlValue
}

/** A parameter that each request of a prepared find binds, and its encoding in the statement. */
interface Argument {
  readonly param: number
  readonly encode: (value: Json) => SqlValue
}

/** Interpolates fragments only: a value must be wrapped in `param`, so that it cannot become SQL text. */
export function sql(strings: TemplateStringsArray, ...holes: readonly Fragment[]): Fragment {
  const parts: Part[] = []
  // A plain loop, because this runs many times per request.
  for (let i = 0; i < strings.length; i++) {
    if (strings[i] !== '') add(parts, strings[i]!)
    if (i < holes.length) append(parts, holes[i]!)
  }
  return { parts }
}

export function param(value: SqlValue): Fragment {
  return { parts: [{ value }] }
}

export function argument(place: number, encode: Argument['encode']): Fragment {
  return { parts: [{ param: place, encode }] }
}

/** Trusted text: keywords, table names of the catalogue, quoted names. */
export function raw(text: string): Fragment {
  return { parts: [text] }
}

/** A text literal; for JSON paths, because indexes match literals only. */
export function literal(text: string): Fragment {
  return raw(`'${text.replaceAll("'", "''")}'`)
}

export function join(fragments: readonly Fragment[], separator: string): Fragment {
  const parts: Part[] = []
  fragments.forEach((fragment, i) => {
    if (i > 0) add(parts, separator)
    append(parts, fragment)
  })
  return { parts }
}

function append(parts: Part[], fragment: Fragment): void {
  for (const part of fragment.parts) add(parts, part)
}

/** Merges adjacent texts, because each enclosing fragment copies all parts again. */
function add(parts: Part[], part: Part): void {
  const last = parts.at(-1)
  if (typeof part === 'string' && typeof last === 'string') parts[parts.length - 1] = last + part
  else parts.push(part)
}

/**
 * Joins as a balanced tree: engines limit the depth of expressions, and a chain of a thousand terms is a
 * thousand levels deep.
 */
export function joinBalanced(fragments: readonly Fragment[], separator: string): Fragment {
  if (fragments.length <= 8) return join(fragments, separator)
  const middle = fragments.length >> 1
  const left = joinBalanced(fragments.slice(0, middle), separator)
  const right = joinBalanced(fragments.slice(middle), separator)
  return sql`(${left})${raw(separator)}(${right})`
}

export interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[]
}

/** A statement with arguments that are not bound yet. */
export interface PreparedStatement {
  readonly text: string
  readonly values: readonly (Known | Argument)[]
}

export function render(fragment: Fragment, placeholder: (n: number) => string): Statement {
  return bindStatement(prepare(fragment, placeholder), [])
}

export function prepare(fragment: Fragment, placeholder: (n: number) => string): PreparedStatement {
  let text = ''
  const values: (Known | Argument)[] = []
  for (const part of fragment.parts) {
    if (typeof part === 'string') text += part
    else text += placeholder(values.push(part))
  }
  return { text, values }
}

/**
 * Like `render`, but sends a repeated parameter once, for engines with numbered placeholders: statements that
 * write a document and its index rows name its text several times. A parameter has one type, so the engine
 * must infer the same type at each of its occurrences.
 */
export function renderShared(fragment: Fragment, placeholder: (n: number) => string): Statement {
  let text = ''
  const values: (Known | Argument)[] = []
  const numbers = new Map<Known | Argument, number>()
  for (const part of fragment.parts) {
    if (typeof part === 'string') {
      text += part
      continue
    }
    const n = numbers.get(part) ?? values.push(part)
    numbers.set(part, n)
    text += placeholder(n)
  }
  return bindStatement({ text, values }, [])
}

export function bindStatement({ text, values }: PreparedStatement, given: Arguments): Statement {
  return {
    text,
    values: values.map((each) => ('value' in each ? each.value : each.encode(argumentFor(each, given)))),
  }
}
