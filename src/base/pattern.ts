/** Regular expressions in linear time: RE2's syntax and promise, by re2js. */
import { RE2JS } from 're2js'

export interface PatternFlags {
  readonly caseInsensitive: boolean
  readonly multiline: boolean
  readonly extended: boolean
  readonly dotall: boolean
}

export interface Pattern {
  readonly source: string
  readonly flags: PatternFlags
  /** Whether the pattern occurs anywhere in the text. */
  readonly occursIn: (text: string) => boolean
  /** Whether the pattern is the whole text. */
  readonly matchesAll: (text: string) => boolean
}

export const NO_FLAGS: PatternFlags = {
  caseInsensitive: false,
  multiline: false,
  extended: false,
  dotall: false,
}

/** The compiled pattern, or undefined when it is no RE2 pattern. */
export function compilePattern(source: string, flags: PatternFlags): Pattern | undefined {
  const bits =
    (flags.caseInsensitive ? RE2JS.CASE_INSENSITIVE : 0) |
    (flags.multiline ? RE2JS.MULTILINE : 0) |
    (flags.dotall ? RE2JS.DOTALL : 0)
  try {
    const compiled = RE2JS.compile(flags.extended ? withoutComments(source) : source, bits)
    return {
      source,
      flags,
      occursIn: (text) => compiled.test(text),
      matchesAll: (text) => compiled.testExact(text),
    }
  } catch {
    return undefined
  }
}

/** RE2 has no `x` flag: white space and `#` comments outside classes and escapes are taken out beforehand. */
export function withoutComments(source: string): string {
  return source.replaceAll(EXTENDED, (_, kept: string | undefined) => kept ?? '')
}

/** What is kept as it is, an escape, a whole class, or any other character; or what is dropped. */
const EXTENDED = /(\\[^]|\[\^?\]?(?:\\[^]|\[:\^?\w+:\]|[^\]\\])*\]?|[^\s#])|\s|#[^\n]*/g
