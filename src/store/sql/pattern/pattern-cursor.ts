/** A position in the text of a pattern during parsing. */

/** Thrown when the parser is not certain of the meaning of a pattern. */
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

  /** Consumes the expected text; returns whether it was there. */
  take(expected: string): boolean {
    const isHere = this.isAt(expected)
    if (isHere) this.#at += expected.length
    return isHere
  }

  /** Matches an expression that begins with `^` at the position, and consumes the match. */
  match(expression: RegExp): RegExpExecArray | undefined {
    const found = expression.exec(this.rest()) ?? undefined
    this.#at += found?.[0].length ?? 0
    return found
  }

  /** Consumes the next code point. */
  next(): number {
    const point = this.#text.codePointAt(this.#at)
    if (point === undefined) throw new Uncertain()
    this.#at += point > 0xffff ? 2 : 1
    return point
  }
}
