/** What can follow in a filter text: fields, then operators, then values, then `and` or `or`. */
import type { EntityInfo } from '../../client/types.ts'
import type { Column } from '../../schema/columns.ts'

export interface Suggestion {
  /** What is inserted in place of the word that was begun. */
  readonly text: string
  readonly kind: 'field' | 'operator' | 'value' | 'word'
}

export interface Suggestions {
  /** Where the word that was begun starts. */
  readonly from: number
  readonly items: readonly Suggestion[]
}

interface Known {
  readonly columns: readonly Column[]
  readonly info: Pick<EntityInfo, 'enums'>
}

const TOKEN = /`[^`]*`|"(?:[^"\\]|\\.)*"?|[\w.*$]+|[<>!=~]+|[(),]/g
const WORDS = [
  'and',
  'or',
  'not',
  'any',
  'in',
  'contains',
  'true',
  'false',
  'null',
  'text',
  'all',
  'none',
  'now',
]
const MAX_ITEMS = 10

/** The suggestions at the end of a text that was typed so far. */
export function suggestionsFor(typed: string, known: Known): Suggestions {
  const tokens = [...typed.matchAll(TOKEN)]
  const last = tokens.at(-1)
  const isBegun =
    last !== undefined && last.index + last[0].length === typed.length && !/^[(),]$/.test(last[0])
  const from = isBegun ? last.index : typed.length
  const before = (isBegun ? tokens.slice(0, -1) : tokens).map(([text]) => text)
  const begun = typed.slice(from).toLowerCase()
  const items = followers(before, known).filter(({ text }) => {
    const plain = text.toLowerCase()
    return plain.startsWith(begun) && plain !== begun
  })
  return { from, items: items.slice(0, MAX_ITEMS) }
}

export function printName(path: string): string {
  const names = path.split('.').map((name) => {
    const isPlain = name === '*' || (/^[A-Za-z_]\w*$/.test(name) && !WORDS.includes(name))
    return isPlain ? name : `\`${name.replaceAll('`', '``')}\``
  })
  return names.join('.')
}

function followers(before: readonly string[], { columns, info }: Known): readonly Suggestion[] {
  const previous = before.at(-1)
  if (previous === undefined || ['and', 'or', 'not', '('].includes(previous)) return fieldSuggestions(columns)
  const field = columnNamed(previous, columns)
  if (field) return operatorSuggestions(field)
  if (/^[<>!=]+$/.test(previous)) return valueSuggestions(columnNamed(before.at(-2) ?? '', columns), info)
  return words('and', 'or')
}

/** The path as a filter writes it: the elements of a list are `path.*`. */
export function filterPath({ path, field }: Column): string {
  return printName(field.type === 'array' && field.items?.type !== 'object' ? `${path}.*` : path)
}

function fieldSuggestions(columns: readonly Column[]): readonly Suggestion[] {
  const usable = columns.filter(({ field }) => field.type !== 'reference' && field.type !== 'binary')
  return [...usable.map((column) => ({ text: filterPath(column), kind: 'field' }) as const), ...words('not')]
}

function operatorSuggestions({ field: { type, items } }: Column): readonly Suggestion[] {
  const simple = type === 'array' ? (items?.type ?? '') : type
  const ordered = simple === 'boolean' ? ['=', '!='] : ['=', '!=', '<', '<=', '>', '>=']
  const more = simple === 'string' || simple === 'uid' ? ['~ /', 'in (', 'not in ('] : ['in (', 'not in (']
  return [...ordered, ...more].map((text) => ({ text, kind: 'operator' }))
}

function valueSuggestions(column: Column | undefined, info: Known['info']): readonly Suggestion[] {
  const values = column ? valuesOf(column, info) : []
  return [...values, 'null'].map((text) => ({ text, kind: 'value' }))
}

function valuesOf({ field }: Column, { enums = [] }: Known['info']): readonly string[] {
  if (field.type === 'boolean') return ['true', 'false']
  if (field.type === 'date') return ['now()']
  const named = enums.find(({ name }) => name === field.constraints?.['enum'])
  return (named?.values ?? []).map((value) => JSON.stringify(value))
}

function columnNamed(token: string, columns: readonly Column[]): Column | undefined {
  return columns.find((column) => filterPath(column) === token || printName(column.path) === token)
}

function words(...texts: readonly string[]): readonly Suggestion[] {
  return texts.map((text) => ({ text, kind: 'word' }))
}
