/** The words of filters, and how a path is written: names that are no plain words stand in backquotes. */

/** A field with one of these names stands in backquotes. */
export const WORDS: ReadonlySet<string> = new Set([
  'and',
  'or',
  'not',
  'in',
  'any',
  'contains',
  'all',
  'none',
  'text',
  'true',
  'false',
  'null',
  'now',
])

/** Letters, digits and `_`; the `#` of a size may follow. */
export const NAME = /[\p{L}_][\p{L}\p{M}\p{N}_]*#?/uy
/** Steps that need no quotes although they are no names. */
export const SPECIAL_STEP = /\$this\b|\$parent\b|\*|[+-]?\d+/y

const PLAIN_STEP = new RegExp(`^(?:${NAME.source}|${SPECIAL_STEP.source})$`, 'u')

export function printPath(path: string): string {
  return path.split('.').map(printStep).join('.')
}

function printStep(step: string): string {
  return PLAIN_STEP.test(step) && !WORDS.has(step) ? step : inBackquotes(step)
}

/** The name of an index, which may hold any character; a number or `*` is no plain word. */
export function printIndexName(name: string): string {
  return PLAIN_NAME.test(name) && !WORDS.has(name) ? name : inBackquotes(name)
}

const PLAIN_NAME = new RegExp(`^${NAME.source}$`, 'u')

function inBackquotes(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``
}
