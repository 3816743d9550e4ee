/** Which names a field may have. */
import { isIndex } from './path.ts'

/** Names that every JavaScript object resolves through its prototype. */
const UNSAFE = new Set(['__proto__', 'constructor', 'prototype'])

/** Why no field has this name; undefined if one may have it. Of names that end in "#", only the size of an array may. */
export function problemWithName(name: string, isSize: boolean): string | undefined {
  if (name === '') return 'it is empty'
  if (name.includes('.')) return '"." separates the steps of a path'
  if (name.includes('\0')) return 'it holds NUL'
  if (name.startsWith('$')) return 'names that begin with "$" are operators'
  if (name === '*') return '"*" stands for the elements of an array'
  if (isIndex(name)) return 'it reads as the index of an array element'
  if (name.endsWith('#') && !isSize) return '"#" at the end is for the size of an array beside it'
  return UNSAFE.has(name) ? 'the name is reserved' : undefined
}
