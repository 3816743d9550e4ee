/** Dotted paths as requests write them. What a path means is decided against a schema, in `lang/resolve/resolve.ts`. */
import { ServiceError } from './errors.ts'

/** A name, an index (negative counts from the end), or one of `*`, `$this`, `$parent`; names never look like those. */
export type Step = string | number
export type Path = readonly Step[]

export function parsePath(text: string, at: string): Path {
  if (text.includes('\0'))
    throw new ServiceError('metadata:InvalidFieldReference', 'a path may not hold NUL', { at })
  return text.split('.').map((segment) => parseStep(segment, text, at))
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
    throw new ServiceError('metadata:InvalidFieldReference', `"${text}" has an index out of reach`, { at })
  }
  return index
}
