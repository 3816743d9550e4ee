/** How values are read by SQL: as their type, or with an eye on their kind where versions disagree about it. */
import { type TypeName, TYPES } from '../../schema/types.ts'

/**
 * The types read whatever is there and trust that it fits, which is what indexes serve best. The others give null for
 * what is of another kind: a version that gave the path another type may have left it there.
 */
export type Reading = TypeName | Wary
type Wary = 'onlyBoolean' | 'onlyNumber' | 'onlyText'

export function readingOf(type: TypeName, isMixed = false): Reading {
  const { family } = TYPES[type]
  return isMixed && family !== undefined ? WARY[family] : type
}

/** In which values of both compare: numbers of different types meet where every digit is held. */
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
