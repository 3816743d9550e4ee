/** Validates names and versions in metadata. */
import { problemWithName } from '../../base/field-name.ts'
import { fault } from './decode.ts'

const ENTITY = /^[A-Za-z_][A-Za-z0-9_-]{0,127}$/
/** Path segments of the API that stand in the position of an entity name. */
const TAKEN = new Set(['roles', 'dependencies', 'health', 'access'])
/** No JSON document may have this key, and answers of other programs are keyed by entity. */
const NO_KEY = '__proto__'
const VERSION = /^\d+\.\d+\.\d+(-[A-Za-z0-9._-]+)?$/

export function checkEntityName(name: string, at: string): void {
  if (TAKEN.has(name)) throw fault('metadata:InvalidName', `"${name}" cannot name an entity, it is taken`, at)
  if (ENTITY.test(name) && name !== NO_KEY) return
  const rule = `a letter or "_", then letters, digits, "_" and "-", at most 128 characters, except ${NO_KEY}`
  throw fault('metadata:InvalidName', `"${name}" cannot name an entity: names are ${rule}`, at)
}

export function checkVersionValue(version: string, at: string): void {
  if (VERSION.test(version)) return
  const rule = 'major.minor.patch, optionally followed by - and a suffix of letters, digits, ".", "_" and "-"'
  throw fault(
    'metadata:InvalidVersionNumber',
    `"${version}" is no version; versions are ${rule}, for example 1.0.0`,
    at,
  )
}

/** `isSize` means that the name is `x#` for an array `x` beside it. */
export function checkFieldName(name: string, isSize: boolean, at: string): void {
  const problem = problemWithName(name, isSize)
  if (problem) throw fault('metadata:InvalidName', `"${name}" cannot name a field: ${problem}`, at)
}

export function isSnapshot(version: string): boolean {
  return version.includes('SNAPSHOT')
}
