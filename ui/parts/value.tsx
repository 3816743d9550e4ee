/** One value of a document in a cell: short, and recognisable by its type. */
import type { JSX } from 'preact'
import { type Json, isArray, isNumber, isObject, printJson } from '../client/json.ts'
import type { Field } from '../client/types.ts'
import { toShortDate } from '../schema/dates.ts'
import { PlainText } from './text.tsx'

interface ValueProps {
  readonly value: Json | undefined
  readonly field?: Field | undefined
}

export function Value({ value, field }: ValueProps): JSX.Element | null {
  if (value === undefined) return null
  if (value === null) return <span class="null">null</span>
  if (typeof value === 'boolean') return <span class={`boolean ${value}`}>{String(value)}</span>
  if (isNumber(value)) return <span class="number">{String(value)}</span>
  if (typeof value === 'string') {
    return <PlainText text={field?.type === 'date' ? toShortDate(value) : value} />
  }
  if (isArray(value)) {
    return (
      <span class="list">
        <span class="count">{value.length}</span>
        <PlainText text={value.slice(0, 8).map(brief).join(', ')} maxLength={120} />
      </span>
    )
  }
  return <PlainText text={brief(value)} maxLength={120} />
}

/** A line of text for a value inside another one. */
export function brief(value: Json): string {
  if (typeof value === 'string') return value.slice(0, 60)
  if (!isObject(value)) return printJson(value)
  const parts = Object.entries(value)
    .filter(([name]) => name !== 'objectType' && !name.endsWith('#'))
    .slice(0, 3)
  return parts
    .map(([name, each]) => `${name}: ${isObject(each) || isArray(each) ? '…' : String(each)}`)
    .join(' · ')
}
