/** The order and case folding of text that all stores share. */

/** Orders by Unicode code point, as UTF-8 bytes sort; JavaScript's `<` orders by UTF-16 unit. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return rank(x) - rank(y)
  }
  return a.length - b.length
}

/** Surrogates encode code points above all other units. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

/** The text must be well formed: a pair of surrogates counts once. */
export function countCodePoints(text: string): number {
  let pairs = 0
  for (let i = 0; i < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00) pairs++
  }
  return text.length - pairs
}

/** Simple Unicode case folding, which maps one code point to one: texts that differ only in case fold to the same text. */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  let folded = ''
  for (const character of text) {
    folded += IRREGULAR.get(character) ?? single(single(character, 'toUpperCase'), 'toLowerCase')
  }
  return folded
}

/** Letters whose simple folding differs from their upper case in lower case. */
const IRREGULAR: ReadonlyMap<string, string> = new Map([
  ['\u0131', '\u0131'],
  ['\u1fd3', '\u0390'],
  ['\u1fe3', '\u03b0'],
  ['\ufb05', '\ufb06'],
])

function single(character: string, change: 'toUpperCase' | 'toLowerCase'): string {
  const changed = character[change]()
  return changed.length === String.fromCodePoint(changed.codePointAt(0)!).length ? changed : character
}

// eslint-disable-next-line no-control-regex -- the range is ASCII itself
const ASCII = /^[\x00-\x7f]*$/
