/** Estimates the cost of a body before it is parsed: small objects take far longer to parse than text of the same length. */

/** Whether JSON text has more values than `max`: the number of its commas and brackets outside of strings. */
export function hasMoreValues(bytes: Uint8Array, max: number): boolean {
  let count = 0
  let isInString = false
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === QUOTE) isInString = !isInString
    else if (isInString) {
      if (byte === BACKSLASH) i++
    } else if ((byte === COMMA || byte === BRACKET || byte === BRACE) && ++count > max) return true
  }
  return false
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const BRACKET = 0x5b
const BRACE = 0x7b
