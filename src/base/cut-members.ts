/** Takes members out of the text of a JSON object without parsing it: a few times as fast as parsing and printing. */

/** Only for text that `JSON.stringify` printed: without white space, and each key escaped in just one way. */
export function memberCutter(names: Iterable<string>): (text: string) => string {
  const marks = [...names].map((name) => `${JSON.stringify(name)}:`)
  return (text) => {
    const present = marks.filter((mark) => text.includes(mark))
    if (present.length === 0) return text
    let kept = ''
    let keptTo = 1
    let left = present.length
    for (let start = 1; left > 0 && text.charCodeAt(start) === QUOTE;) {
      const mark = present.find((each) => text.startsWith(each, start))
      const end = endOfValue(text, mark === undefined ? endOfString(text, start) + 1 : start + mark.length)
      const isLast = text.charCodeAt(end) !== COMMA
      if (mark !== undefined) {
        kept += text.slice(keptTo, start)
        keptTo = isLast ? end : end + 1
        left--
      }
      start = end + 1
    }
    if (keptTo === 1) return text
    const rest = text.slice(keptTo)
    // The comma before a last member that was cut has nothing to separate any more.
    return `{${rest === '}' && kept.endsWith(',') ? kept.slice(0, -1) : kept}${rest}`
  }
}

/** The place after the closing quote. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return end + 1
  }
}

/** The place of the comma or the brace that follows. */
function endOfValue(text: string, start: number): number {
  if (text.charCodeAt(start) === QUOTE) return endOfString(text, start)
  let depth = 0
  for (let i = start; ; i++) {
    const unit = text.charCodeAt(i)
    if (unit === QUOTE) i = endOfString(text, i) - 1
    else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) depth++
    else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) {
      if (depth === 0) return i
      depth--
    } else if (unit === COMMA && depth === 0) return i
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
