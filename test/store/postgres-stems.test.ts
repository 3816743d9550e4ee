/** The stems of every language are those of Snowball in another implementation, the one that PostgreSQL contains. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { LANGUAGES, type Language, stemOf } from '../../src/base/stemmers.ts'
import { type Chance, sampleEvenly } from '../support/chance.ts'
import { SEED } from '../support/seed.ts'
import { testPostgresUrl } from '../support/postgres.ts'

const WORDS = 1_000

const LATIN = 'abcdefghijklmnoprstuvyz'
const LETTERS: Readonly<Partial<Record<Language, string>>> = {
  arabic: 'ابتثجحدرسعفقكلمنهويأإآةى',
  armenian: 'աբգդեզթիլխկհղմնոպջռսվտրփքև',
  danish: `${LATIN}æøå`,
  dutch: `${LATIN}ëïéè`,
  english: `${LATIN}'`,
  finnish: `${LATIN}äö`,
  french: `${LATIN}éèêàçîôû`,
  german: `${LATIN}äöüß`,
  greek: 'αβγδεζηθικλμνξοπρστυφχψωάέήίόύώ',
  hindi: 'कखगचजटडतदनपबमयरलवसहािीुूेोंँ्',
  hungarian: `${LATIN}áéíóöőúüű`,
  irish: `${LATIN}áéíóú`,
  italian: `${LATIN}àèéìòù`,
  lithuanian: `${LATIN}ąčęėįšųūž`,
  nepali: 'कखगचजटडतदनपबमयरलवसहािीुूेोंँ्',
  norwegian: `${LATIN}æøå`,
  portuguese: `${LATIN}ãõáéíóúâêôç`,
  romanian: `${LATIN}ăâîşţșț`,
  russian: 'абвгдежзийклмнопрстуфхцчшщыьюяё',
  serbian: `${LATIN}čćđšžабвгђежзијклмнпрст`,
  spanish: `${LATIN}áéíóúñü`,
  swedish: `${LATIN}äöå`,
  tamil: 'அகசடதநபமயரலவளனாிீுூெேைொோ்',
  turkish: `${LATIN}ıçğöşü`,
}

/** So that many words have an end that some rule removes. */
const ENDS: Readonly<Partial<Record<Language, string>>> = {
  dutch: 'heden en heid lijk ing e',
  english: "ing ed s es ies ational iveness fulness ly ation izer ical ness ment able eed 's",
  finnish: 'issa ista lla ni kaan ja',
  french: 'ement ations ité euse eux issent erait aient ions',
  german: 'en ern er es ung heit keit lich isch igkeit e s',
  greek: 'ους ων ης οι ουμε ατα',
  hungarian: 'ok ak ban nek okat',
  romanian: 'ilor ul iunii ește ţi ți ism',
  russian: 'ами ого ыми ость ейший ать ить ешь',
  spanish: 'amientos idades ando iendo aciones mente os',
  turkish: 'ler lar imiz den dan lerimizden',
}

function makeWord(chance: Chance, language: Language): string {
  const letters = Array.from(LETTERS[language] ?? LATIN)
  const letter = (): string => chance.pick(letters)
  const end = chance.happens(60) ? chance.pick((ENDS[language] ?? '').split(' ')) : ''
  return [letter(), letter(), ...chance.list(8, letter), end].join('')
}

/** PostgreSQL has a newer Snowball, in which these letters of German are the same as umlauts. */
function isComparable(word: string, language: Language): boolean {
  return language !== 'german' || !/[aou]e/.test(word)
}

function withoutMarks(stem: string): string {
  return stem.normalize('NFD').replaceAll(/[\u0300-\u036f]/g, '')
}

test(`stems: those of PostgreSQL in every language (SMALT_SEED=${SEED})`, async () => {
  const client = new pg.Client({ connectionString: await testPostgresUrl() })
  await client.connect()
  try {
    // Dictionaries in the schema of the session go with it.
    await client.query('create temp table made()')
    const { rows: versions } = await client.query<{ number: string }>(
      `select current_setting('server_version_num') as number`,
    )
    // Older servers do not know the letters with a comma below.
    const isOld = Number(versions[0]!.number) < 180_000
    for (const language of LANGUAGES.filter((each) => !isOld || each !== 'romanian')) {
      await client.query(
        `create text search dictionary pg_temp.${language} (template = snowball, language = ${language})`,
      )
      const words = sampleEvenly(SEED, (chance) =>
        Array.from({ length: WORDS }, () => makeWord(chance, language)),
      ).filter((word) => isComparable(word, language))
      const { rows } = await client.query<{ word: string; stem: string }>(
        `select word, (ts_lexize('pg_temp.${language}', word))[1] as stem from unnest($1::text[]) as word`,
        [words],
      )
      assert.ok(rows.length > WORDS / 2)
      for (const { word, stem } of rows) {
        assert.equal(withoutMarks(stemOf(word, language)), withoutMarks(stem), `${language}: ${word}`)
      }
    }
  } finally {
    await client.end()
  }
})
