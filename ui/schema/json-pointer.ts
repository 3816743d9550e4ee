/** Where a JSON pointer leads in a JSON text, so that an error can be shown there. */

export interface Span {
  readonly from: number
  readonly to: number
}

/** The pointer that a message of the service ends with: `… (at /schema/fields/a/type)`. */
export function pointerIn(message: string): string | undefined {
  return /\(at (\/[^)]*)\)/.exec(message)?.[1]
}

/** The span of the value that the pointer names, or of the nearest one around it; the whole text where nothing fits. */
export function spanOf(text: string, pointer: string): Span {
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const scanner = new Scanner(text)
  let best: Span = { from: 0, to: text.length }
  let depth = -1
  // inner values are visited before those around them
  scanner.visit([], (path, span) => {
    if (path.length <= depth || path.some((step, i) => step !== steps[i])) return
    best = span
    depth = path.length
  })
  return best
}

type Visit = (path: readonly string[], span: Span) => void

/** Reads JSON text that may be incomplete; what it cannot read ends the scan. */
class Scanner {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  visit(path: readonly string[], onValue: Visit): boolean {
    this.#skip()
    const from = this.#at
    const isRead = this.#value(path, onValue)
    if (isRead) onValue(path, { from, to: this.#at })
    return isRead
  }

  #value(path: readonly string[], onValue: Visit): boolean {
    const first = this.#text[this.#at]
    if (first === '{') return this.#members(path, onValue)
    if (first === '[') return this.#elements(path, onValue)
    return this.#match(first === '"' ? STRING : WORD) !== undefined
  }

  #members(path: readonly string[], onValue: Visit): boolean {
    this.#at++
    for (;;) {
      this.#skip()
      if (this.#take('}')) return true
      const name = this.#match(STRING)
      if (name === undefined) return false
      this.#skip()
      if (!this.#take(':')) return false
      if (!this.visit([...path, textIn(name)], onValue)) return false
      this.#skip()
      this.#take(',')
    }
  }

  #elements(path: readonly string[], onValue: Visit): boolean {
    this.#at++
    for (let i = 0; ; i++) {
      this.#skip()
      if (this.#take(']')) return true
      if (!this.visit([...path, String(i)], onValue)) return false
      this.#skip()
      this.#take(',')
    }
  }

  #skip(): void {
    this.#match(SPACE)
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }
}

/** What is begun, such as `"\\u00"`, is no JSON yet. */
function textIn(quoted: string): string {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return quoted
  }
}

const SPACE = /\s*/y
const STRING = /"(?:[^"\\]|\\.)*"/y
const WORD = /[^\s,\]}:"{[]+/y
