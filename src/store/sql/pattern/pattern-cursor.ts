/** A place in the text of a pattern that is being parsed. */

/** The pattern may have a meaning, but not one that this parser is certain of. */
export class Uncertain extends Error {}

export class Cursor {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  isAtEnd(): boolean {
    return this.#at >= this.#text.length
  }

  isAt(expected: string): boolean {
    return this.#text.startsWith(expected, this.#at)
  }

  rest(): string {
    return this.#text.slice(this.#at)
  }

  skip(units: number): void {
    this.#at += units
  }

  /** Whether what is expected stood here; then the place is behind it. */
  take(expected: string): boolean {
    const isHere = this.isAt(expected)
    if (isHere) this.#at += expected.length
    return isHere
  }

  /** What the expression, which begins with `^`, finds here; then the place is behind it. */
  match(expression: RegExp): RegExpExecArray | undefined {
    const found = expression.exec(this.rest()) ?? undefined
    this.#at += found?.[0].length ?? 0
    return found
  }

  /** The next code point. */
  next(): number {
    const point = this.#text.codePointAt(this.#at)
    if (point === undefined) throw new Uncertain()
    this.#at += point > 0xffff ? 2 : 1
    return point
  }
}
