/** Prints rows of CSV (RFC 4180). */
import { type Json, isNumber, numberText } from '../base/json/json.ts'

/** Undefined is an empty cell; an empty text is quoted, so that it stays one. */
export function csvLine(cells: readonly (Json | undefined)[]): string {
  return `${cells.map(cellText).join(',')}\r\n`
}

function cellText(value: Json | undefined): string {
  if (value === undefined || value === null) return ''
  if (isNumber(value)) return numberText(value)
  if (typeof value === 'string') return quoted(value)
  return typeof value === 'boolean' ? String(value) : quoted(JSON.stringify(value))
}

function quoted(text: string): string {
  const needsQuotes = text === '' || /[",\r\n\t;|]|^\s|\s$|^\uFEFF/.test(text)
  return needsQuotes ? `"${text.replaceAll('"', '""')}"` : text
}
