/** The plain form of documents: what is written in their text, and what is parsed first, is the same. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../../src/base/json/json.ts'
import { plainText } from '../../../src/service/documents/plain-form.ts'
import { type Chance, sample } from '../../support/chance.ts'
import { compiledSchema } from '../../support/schema.ts'
import { SEED } from '../../support/seed.ts'

const string = { type: 'string' }
const date = { type: 'date' }
const FIELDS = {
  at: date,
  note: string,
  'x"at': string,
  place: { type: 'object', fields: { since: date, name: string } },
  steps: { type: 'array', items: { type: 'object', fields: { at: date, text: string } } },
}
const FORM = { hasNumbersAsText: false }

const STORED = '20240102T03:04:05.678+0000'
const PLAIN = '2024-01-02T03:04:05.678Z'

test('plain form: dates are as in RFC 3339, and texts that look like dates are as they were', () => {
  const { root } = compiledSchema('event', FIELDS)
  const stored = { at: STORED, note: STORED, place: { since: STORED, name: `"at":"${STORED}"` }, steps: null }
  const plain = { ...stored, at: PLAIN, place: { ...stored.place, since: PLAIN } }
  assert.deepEqual(JSON.parse(plainText(JSON.stringify(stored), root, FORM)), plain)
  const unusual = ` {"at":"${STORED}"} `
  assert.equal(plainText(unusual, root, FORM), ` {"at":"${PLAIN}"} `, 'the text is not parsed')
})

/** Such fields make the text ambiguous, so that it is parsed: the member `at` is a date in one place and a text in another. */
const AMBIGUOUS = { other: { type: 'object', fields: { at: string } }, days: { type: 'array', items: date } }

test(`plain form: 2,000 documents are the same, parsed or not (SMALT_SEED=${SEED})`, () => {
  const { root: quick } = compiledSchema('event', FIELDS)
  const { root: parsed } = compiledSchema('event', { ...FIELDS, ...AMBIGUOUS })
  for (let i = 0; i < 2_000; i++) {
    const text = JSON.stringify(sample(SEED + i, randomDocument))
    assert.equal(plainText(text, quick, FORM), plainText(text, parsed, FORM), text)
  }
})

function randomDocument(chance: Chance): Json {
  const someText = (): string =>
    chance
      .list(5, () => chance.pick([STORED, '"', '\\', '"at":', `"at":"${STORED}"`, 'since', ':', 'é', '\n']))
      .join('')
  const someDate = (): Json =>
    chance.happens(20) ? null : chance.pick([STORED, '00010101T00:00:00.000+0000'])
  return {
    at: someDate(),
    note: someText(),
    'x"at': chance.happens(50) ? STORED : someText(),
    place: chance.happens(20) ? null : { since: someDate(), name: someText() },
    steps: chance.list(4, () => ({ at: someDate(), text: someText() })),
  }
}

test('plain form: ambiguous fields keep their types', () => {
  const { root } = compiledSchema('event', { ...FIELDS, ...AMBIGUOUS })
  const stored = { at: STORED, other: { at: STORED }, days: [STORED], 'days#': 1 }
  const plain = { at: PLAIN, other: { at: STORED }, days: [PLAIN], 'days#': 1 }
  assert.deepEqual(JSON.parse(plainText(JSON.stringify(stored), root, FORM)), plain)
})

test('plain form: dates that are elements of an array have no name', () => {
  const { root } = compiledSchema('event', { days: AMBIGUOUS.days })
  assert.equal(plainText(`{"days":["${STORED}"]}`, root, FORM), `{"days":["${PLAIN}"]}`)
})
