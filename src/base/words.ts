/**
 * Cuts text into words for text search: by the word boundaries of Unicode (UAX 29), in normal form, without case and
 * without diacritics; in a language, as stems. Stores keep the words of documents, so the same text must always give the
 * same words.
 */
import { type Language, stemOf } from './stemmers.ts'
import { spend } from './work/work.ts'

/** A longer word is cut into several, as no index of an engine contains words of any length. */
export const MAX_WORD_CHARACTERS = 64

/** The words as they are written, or their stems in a language. */
export function wordsIn(text: string, language?: Language): readonly string[] {
  if (isPlain(text, language)) return shortened(asciiWords(text, language))
  spend(1 + text.length / ASCII_CHARACTERS_PER_STEP)
  const words: string[] = []
  // No word goes across white space.
  for (const piece of text.replaceAll(MANY_MARKS, '$1').normalize('NFKC').split(SPACE)) {
    const cutPiece = isPlain(piece, language) ? asciiWords : pieceWords
    for (const word of cutPiece(piece, language)) words.push(word)
  }
  return shortened(words)
}

const SPACE = /\s+/u

/** No script needs so many marks on one letter, and to put them into normal order takes the square of their number. */
const MANY_MARKS = /(\p{M}{30})\p{M}+/gu

/** Whether the lower case of all letters is that of ASCII: in Turkish, that of `I` is not. */
function isPlain(text: string, language: Language | undefined): boolean {
  return ASCII.test(text) && !(language === 'turkish' && text.includes('I'))
}

function asciiWords(text: string, language: Language | undefined): readonly string[] {
  spend(1 + text.length / ASCII_CHARACTERS_PER_STEP)
  const words = text.toLowerCase().match(ASCII_WORD) ?? []
  return language === undefined ? words : words.map((word) => stemmed(word, language))
}

const ASCII_CHARACTERS_PER_STEP = 8

/** To cut a piece into words takes long. */
function pieceWords(piece: string, language: Language | undefined): readonly string[] {
  return remembered(piece, (language === undefined ? PIECES : inLanguage(language)).pieces, () => {
    spend(STEPS_PER_PIECE + piece.length * STEPS_PER_CHARACTER)
    return cut(piece, language)
  })
}

function stemmed(word: string, language: Language): string {
  return remembered(
    word,
    inLanguage(language).stems,
    () => foldWord(stemOf(word, language)) || foldWord(word),
  )
}

const STEPS_PER_PIECE = 100
const STEPS_PER_CHARACTER = 20
const STEPS_PER_REMEMBERED = 2

/** Remembers what was made of short texts: languages repeat their words. */
function remembered<T>(text: string, known: Map<string, T>, make: () => T): T {
  const before = known.get(text)
  if (before !== undefined) {
    spend(STEPS_PER_REMEMBERED)
    return before
  }
  const made = make()
  if (text.length > MAX_KEPT_CHARACTERS) return made
  if (known.size >= MAX_KEPT) known.clear()
  known.set(text, made)
  return made
}

const MAX_KEPT = 10_000
const MAX_KEPT_CHARACTERS = 40

function inLanguage(language: Language): Remembered {
  const known = languages.get(language) ?? { pieces: new Map(), stems: new Map() }
  languages.set(language, known)
  return known
}

interface Remembered {
  /** Text without white space → its words. */
  readonly pieces: Map<string, readonly string[]>
  /** Word → its stem, as it is searched. */
  readonly stems: Map<string, string>
}

const PIECES: Pick<Remembered, 'pieces'> = { pieces: new Map() }
const languages = new Map<Language, Remembered>()

function cut(piece: string, language: Language | undefined): readonly string[] {
  const words: string[] = []
  const add = (word: string): void => {
    const form = language === undefined ? foldWord(word) : stemmed(lowerCase(word, language), language)
    if (form !== '') words.push(form)
  }
  let start = 0
  for (const { 0: letter, index } of piece.matchAll(WITHOUT_SPACES)) {
    for (const word of segmentsOf(piece.slice(start, index))) add(word)
    add(letter)
    start = index + letter.length
  }
  for (const word of segmentsOf(piece.slice(start))) add(word)
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

function* segmentsOf(text: string): Generator<string> {
  if (text === '') return
  for (const { segment } of SEGMENTER.segment(text)) if (IS_WORD.test(segment)) yield segment
}

function foldWord(word: string): string {
  return foldCase(word).normalize('NFD').replaceAll(DIACRITIC, '').normalize('NFKC')
}

/** Letter by letter, because the lower case of a whole word depends on where a letter stands in it. */
function foldCase(word: string): string {
  let folded = ''
  for (const upper of word.toUpperCase()) folded += upper.toLowerCase()
  return folded
}

/** The word as a stemmer expects it: its letters have their diacritics, and nothing without a glyph is between them. */
function lowerCase(word: string, language: Language): string {
  const lower = language === 'turkish' ? word.toLocaleLowerCase('tr') : foldCase(word)
  return lower.replaceAll(/\p{Cf}/gu, '').normalize('NFC')
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
