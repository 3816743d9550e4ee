/** Parses dotted paths of requests. `lang/resolve/resolve.ts` resolves them against a schema. */
import { ServiceError } from './errors.ts'

/** A name, an index (negative ones count from the end), or one of `*`, `$this`, `$parent`, which are never names. */
export type Step = string | number
export type Path = readonly Step[]

export function parsePath(text: string, at: string): Path {
  if (text.includes('\0'))
    throw new ServiceError('metadata:InvalidFieldReference', 'a path may not contain NUL', { at })
  return text.split('.').map((segment) => parseStep(segment, text, at))
}

/** Whether the path leads to elements of an array. */
export function isIntoArray(path: string): boolean {
  return parsePath(path, '').includes('*')
}

export function printPath(path: Path): string {
  return path.join('.')
}

export function isIndex(text: string): boolean {
  return /^[+-]?\d+$/.test(text)
}

function parseStep(segment: string, text: string, at: string): Step {
  if (segment === '') {
    throw new ServiceError('metadata:InvalidFieldReference', `"${text}" has an empty step`, { at })
  }
  if (!isIndex(segment)) return segment
  const index = Number(segment)
  if (!Number.isSafeInteger(index)) {
    throw new ServiceError('metadata:InvalidFieldReference', `"${text}" has an index out of range`, { at })
  }
  return index
}
