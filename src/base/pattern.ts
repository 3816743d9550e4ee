/** Regular expressions that match in linear time: RE2 syntax, implemented by re2js. */
import { RE2JS } from 're2js'
import { requireAnotherThread, spend, spendTime } from './work/work.ts'

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
  /** Whether the pattern matches the whole text. */
  readonly matchesAll: (text: string) => boolean
}

export const NO_FLAGS: PatternFlags = {
  caseInsensitive: false,
  multiline: false,
  extended: false,
  dotall: false,
}

/** Undefined when the source is not a valid RE2 pattern. */
export function compilePattern(source: string, flags: PatternFlags): Pattern | undefined {
  const key = `${flags.caseInsensitive}${flags.multiline}${flags.extended}${flags.dotall}${source}`
  const cached = compiled.get(key)
  if (cached) return cached
  const started = performance.now()
  const pattern = compile(source, flags)
  if (compiled.size >= MAX_COMPILED) compiled.clear()
  if (pattern) compiled.set(key, pattern)
  // Afterwards, so that a request which is started again finds the pattern.
  spendTime(performance.now() - started)
  return pattern
}

/** Cached, because a request compiles its patterns when it is parsed and again when it is planned. */
const compiled = new Map<string, Pattern>()
const MAX_COMPILED = 200

function compile(source: string, flags: PatternFlags): Pattern | undefined {
  const bits =
    (flags.caseInsensitive ? RE2JS.CASE_INSENSITIVE : 0) |
    (flags.multiline ? RE2JS.MULTILINE : 0) |
    (flags.dotall ? RE2JS.DOTALL : 0)
  try {
    const program = RE2JS.compile(flags.extended ? withoutComments(source) : source, bits)
    const size = program.programSize()
    return {
      source,
      flags,
      occursIn: (text) => bounded(size * text.length, () => program.test(text)),
      matchesAll: (text) => bounded(size * text.length, () => program.testExact(text)),
    }
  } catch {
    return undefined
  }
}

/** Up to this many instructions × characters a test takes less than a millisecond, so steps are charged without a clock. */
const SMALL_TEST = 4_096
/** Above this the worst case is tens of milliseconds, and a test cannot be interrupted. */
const MAX_INLINE_TEST = 200_000

function bounded(worst: number, test: () => boolean): boolean {
  if (worst <= SMALL_TEST) {
    spend(worst >> 4)
    return test()
  }
  if (worst > MAX_INLINE_TEST) requireAnotherThread()
  const started = performance.now()
  const isMatch = test()
  spendTime(performance.now() - started)
  return isMatch
}

/** Emulates the `x` flag, which RE2 lacks: removes white space and `#` comments outside classes and escapes. */
export function withoutComments(source: string): string {
  return source.replaceAll(EXTENDED, (_, preserved: string | undefined) => preserved ?? '')
}

/** Captures text to preserve (an escape, a class, any other character); matches the rest without capturing it. */
const EXTENDED = /(\\[^]|\[\^?\]?(?:\\[^]|\[:\^?\w+:\]|[^\]\\])*\]?|[^\s#])|\s|#[^\n]*/g
