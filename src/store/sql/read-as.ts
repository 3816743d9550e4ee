/** How SQL reads values: by type without a check, or with a check of the kind where schema versions disagree. */
import { type TypeName, TYPES } from '../../schema/types.ts'

/**
 * Types read a value without checking it, which indexes serve best. The others return null for a
 * value of another kind, which a version with another type of the field may have stored.
 */
export type ReadAs = TypeName | CheckedRead
type CheckedRead = 'onlyBoolean' | 'onlyNumber' | 'onlyText'

export function readAsOf(type: TypeName, isMixed = false): ReadAs {
  const { family } = TYPES[type]
  return isMixed && family !== undefined ? CHECKED_READS[family] : type
}

/** How to read values of both so that they compare: numbers of different types are compared as exact decimals. */
export function commonReadAs(a: ReadAs, b: ReadAs): ReadAs {
  if (a === b) return a
  if (isChecked(a) || isChecked(b)) return isChecked(a) ? a : b
  return TYPES[a].family === 'number' ? 'bigdecimal' : a
}

function isChecked(readAs: ReadAs): readAs is CheckedRead {
  return readAs === 'onlyBoolean' || readAs === 'onlyNumber' || readAs === 'onlyText'
}

const CHECKED_READS: Readonly<Record<NonNullable<(typeof TYPES)[TypeName]['family']>, CheckedRead>> = {
  boolean: 'onlyBoolean',
  number: 'onlyNumber',
  text: 'onlyText',
  date: 'onlyText',
}
