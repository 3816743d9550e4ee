/** How SQL reads values: by type without a check, or with a check of the kind where schema versions disagree. */
import { type TypeName, TYPES } from '../../schema/types.ts'

/**
 * Types read a value without checking it, which indexes serve best. The other readings return null for a
 * value of another kind, which a version with another type of the field may have stored.
 */
export type Reading = TypeName | Wary
type Wary = 'onlyBoolean' | 'onlyNumber' | 'onlyText'

export function readingOf(type: TypeName, isMixed = false): Reading {
  const { family } = TYPES[type]
  return isMixed && family !== undefined ? WARY[family] : type
}

/** The reading in which values of both compare: numbers of different types are compared as exact decimals. */
export function commonReading(a: Reading, b: Reading): Reading {
  if (a === b) return a
  if (isWary(a) || isWary(b)) return isWary(a) ? a : b
  return TYPES[a].family === 'number' ? 'bigdecimal' : a
}

function isWary(reading: Reading): reading is Wary {
  return reading === 'onlyBoolean' || reading === 'onlyNumber' || reading === 'onlyText'
}

const WARY: Readonly<Record<NonNullable<(typeof TYPES)[TypeName]['family']>, Wary>> = {
  boolean: 'onlyBoolean',
  number: 'onlyNumber',
  text: 'onlyText',
  date: 'onlyText',
}
