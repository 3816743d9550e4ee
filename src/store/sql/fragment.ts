/** SQL as a value: text with holes, and what fills the holes travels beside it, never in it. */
import type { Json } from '../../base/json/json.ts'
import { type Arguments, argumentFor } from '../../lang/operand.ts'

export type SqlValue = null | number | bigint | string

export interface Fragment {
  readonly parts: readonly Part[]
}

type Part = string | Known | Argument

interface Known {
  readonly value: SqlValue
}

/** A value that each request of a prepared find brings along, and its form in the statement. */
interface Argument {
  readonly param: number
  readonly encode: (value: Json) => SqlValue
}

/** Interpolates fragments as text and nothing else: a value has to say that it is one, with `param`. */
export function sql(strings: TemplateStringsArray, ...holes: readonly Fragment[]): Fragment {
  const parts: Part[] = []
  // Every request passes here many times, and loops are what is fast.
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

/** Text of our own making: keywords, table names of the catalogue, quoted names. */
export function raw(text: string): Fragment {
  return { parts: [text] }
}

/** A text literal; for JSON paths, which indexes only recognise as literals. */
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

/** Texts beside each other become one: whatever a fragment goes into copies its parts once more. */
function add(parts: Part[], part: Part): void {
  const last = parts.at(-1)
  if (typeof part === 'string' && typeof last === 'string') parts[parts.length - 1] = last + part
  else parts.push(part)
}

/** Joins by halves: engines limit how deep an expression may nest, and a chain of a thousand nests a thousand deep. */
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

/** A statement some of whose values are not known yet. */
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
 * Like `render`, but a parameter that stands in several places is sent once, for engines whose placeholders are numbered.
 * Statements that write a document and what follows from it name its text several times. One parameter has one type:
 * in all its places the engine has to infer the same.
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
