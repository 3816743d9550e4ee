/**
 * Cuts text into words for text search: by the word boundaries of Unicode (UAX 29), in normal form, without case and
 * without diacritics. Stores keep the words of documents, so the same text must always give the same words.
 */
import { spend } from './work/work.ts'

/** A longer word is cut into several, as no index of an engine contains words of any length. */
export const MAX_WORD_CHARACTERS = 64

export function wordsIn(text: string): readonly string[] {
  if (ASCII.test(text)) return shortened(asciiWords(text))
  spend(1 + text.length / ASCII_CHARACTERS_PER_STEP)
  const words: string[] = []
  // No word goes across white space.
  for (const piece of text.replaceAll(MANY_MARKS, '$1').normalize('NFKC').split(SPACE)) {
    for (const word of ASCII.test(piece) ? asciiWords(piece) : pieceWords(piece)) words.push(word)
  }
  return shortened(words)
}

const SPACE = /\s+/u

/** No script needs so many marks on one letter, and to put them into normal order takes the square of their number. */
const MANY_MARKS = /(\p{M}{30})\p{M}+/gu

function asciiWords(text: string): readonly string[] {
  spend(1 + text.length / ASCII_CHARACTERS_PER_STEP)
  return text.toLowerCase().match(ASCII_WORD) ?? []
}

const ASCII_CHARACTERS_PER_STEP = 8

/** Remembers short pieces: languages repeat their words, and to cut them takes long. */
function pieceWords(piece: string): readonly string[] {
  const known = pieces.get(piece)
  if (known) {
    spend(2)
    return known
  }
  spend(STEPS_PER_PIECE + piece.length * STEPS_PER_CHARACTER)
  const words = cut(piece)
  if (piece.length > MAX_KEPT_CHARACTERS) return words
  if (pieces.size >= MAX_KEPT) pieces.clear()
  pieces.set(piece, words)
  return words
}

const STEPS_PER_PIECE = 100
const STEPS_PER_CHARACTER = 20
const MAX_KEPT = 10_000
const MAX_KEPT_CHARACTERS = 40
const pieces = new Map<string, readonly string[]>()

function cut(piece: string): readonly string[] {
  const words: string[] = []
  let start = 0
  for (const { 0: letter, index } of piece.matchAll(WITHOUT_SPACES)) {
    addWords(piece.slice(start, index), words)
    addWord(letter, words)
    start = index + letter.length
  }
  addWords(piece.slice(start), words)
  return words
}

// eslint-disable-next-line no-control-regex -- the range is ASCII itself
const ASCII = /^[\x00-\x7f]*$/

/**
 * The boundaries of Unicode in ASCII, in lower case: letters, digits and `_`, joined by some marks in between. The first
 * condition keeps the time linear: without it, each `_` of many would be tried as a beginning.
 */
const ASCII_WORD =
  /(?<!_)_*[a-z0-9][a-z0-9_]*(?:(?:(?<=[a-z])[.':](?=[a-z])|(?<=[0-9])[.',;](?=[0-9]))[a-z0-9_]+)*/g

/**
 * Letters of scripts that put no spaces between words. Each is a word, as in UAX 29; where engines cut them by
 * dictionaries, the words depend on the version of the dictionary, and on the letters around.
 */
const WITHOUT_SPACES =
  /(?=[\p{L}\p{N}])[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]\p{M}*/gu

const SEGMENTER = new Intl.Segmenter('en', { granularity: 'word' })

/** Emoji and flags are words, too. */
const IS_WORD = /[\p{L}\p{N}\p{Extended_Pictographic}\p{Regional_Indicator}]/u

function addWords(text: string, words: string[]): void {
  if (text === '') return
  for (const { segment } of SEGMENTER.segment(text)) if (IS_WORD.test(segment)) addWord(segment, words)
}

function addWord(word: string, words: string[]): void {
  const folded = foldWord(word)
  if (folded !== '') words.push(folded)
}

function foldWord(word: string): string {
  let folded = ''
  // Letter by letter, because the lower case of a whole word depends on where a letter stands in it.
  for (const upper of word.toUpperCase()) folded += upper.toLowerCase()
  return folded.normalize('NFD').replaceAll(DIACRITIC, '').normalize('NFKC')
}

/**
 * Marks that scripts share, and the points of Hebrew. The voicing marks of kana and the vowel signs of other scripts
 * make other letters, and stay. Characters without a glyph, such as the soft hyphen, are removed as well.
 */
const DIACRITIC = /(?![\u3099\u309a])(?=\p{M})[\p{Script=Inherited}\u0591-\u05c7]|\p{Cf}/gu

function shortened(words: readonly string[]): readonly string[] {
  if (words.every((word) => word.length <= MAX_WORD_CHARACTERS)) return words
  return words.flatMap((word) => {
    const characters = Array.from(word)
    const parts: string[] = []
    for (let i = 0; i < characters.length; i += MAX_WORD_CHARACTERS) {
      parts.push(characters.slice(i, i + MAX_WORD_CHARACTERS).join(''))
    }
    return parts
  })
}
