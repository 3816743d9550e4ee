/**
 * Reduces words to their stems by the algorithms of Snowball, such as `searches` and `searching` to `search`. Stores keep
 * the stems of documents, so the packages have exact versions: another version may give other stems, and the indexes of
 * existing stores would have to be built again.
 */
import { createRequire } from 'node:module'
import { spend } from './work/work.ts'

/**
 * Language → the module that has its stemmer. The package of most has no Snowball stemmer of English, and those of
 * further languages that it has are not of Snowball.
 */
const MODULES = {
  arabic: '@orama/stemmers/arabic',
  armenian: '@orama/stemmers/armenian',
  danish: '@orama/stemmers/danish',
  dutch: '@orama/stemmers/dutch',
  english: 'porter2',
  finnish: '@orama/stemmers/finnish',
  french: '@orama/stemmers/french',
  german: '@orama/stemmers/german',
  greek: '@orama/stemmers/greek',
  hindi: '@orama/stemmers/indian',
  hungarian: '@orama/stemmers/hungarian',
  indonesian: '@orama/stemmers/indonesian',
  irish: '@orama/stemmers/irish',
  italian: '@orama/stemmers/italian',
  lithuanian: '@orama/stemmers/lithuanian',
  nepali: '@orama/stemmers/nepali',
  norwegian: '@orama/stemmers/norwegian',
  portuguese: '@orama/stemmers/portuguese',
  romanian: '@orama/stemmers/romanian',
  russian: '@orama/stemmers/russian',
  serbian: '@orama/stemmers/serbian',
  spanish: '@orama/stemmers/spanish',
  swedish: '@orama/stemmers/swedish',
  tamil: '@orama/stemmers/tamil',
  turkish: '@orama/stemmers/turkish',
} as const

export type Language = keyof typeof MODULES

export const LANGUAGES = Object.keys(MODULES) as readonly Language[]

export function isLanguage(name: unknown): name is Language {
  return typeof name === 'string' && Object.hasOwn(MODULES, name)
}

/** Longer words are no words of a language, and some stemmers take the square of the length. */
const MAX_CHARACTERS = 64

/**
 * Expects a word in lower case and normal form, with its diacritics: stemmers tell letters apart by them. No stem is
 * empty.
 */
export function stemOf(word: string, language: Language): string {
  if (word.length > MAX_CHARACTERS) return word
  spend(STEPS_PER_STEM)
  return stemmerOf(language)(word.replaceAll(/[’șț]/g, (character) => EXPECTED[character]!)) || word
}

/**
 * Stemmers of languages with contractions, such as it's, expect the apostrophe of ASCII. That of Romanian expects letters
 * with cedillas, as they were written before Unicode had the ones with commas.
 */
const EXPECTED: Readonly<Record<string, string>> = { '’': "'", ș: 'ş', ț: 'ţ' }

const STEPS_PER_STEM = 200

type Stemmer = (word: string) => string

/** Loads the stemmer at its first use: few services have an index of any language, and none has all. */
function stemmerOf(language: Language): Stemmer {
  const loaded = stemmers.get(language) ?? loadStemmer(MODULES[language])
  stemmers.set(language, loaded)
  return loaded
}

const stemmers = new Map<Language, Stemmer>()
/** Words are cut inside functions of SQLite, which cannot wait for an import. */
const load = createRequire(import.meta.url)

function loadStemmer(name: (typeof MODULES)[Language]): Stemmer {
  const module = load(name) as { readonly stem: Stemmer } | { readonly stemmer: Stemmer }
  return 'stem' in module ? module.stem : module.stemmer
}
