/** What text searches find, in which order, and which are refused: rows for each rule of docs/reference/text-search.md. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'

export const TEXT_FIELDS: JsonObject = {
  _id: { type: 'string', constraints: { identity: true } },
  title: { type: 'string' },
  body: { type: 'string' },
  tags: { type: 'array', items: { type: 'string' } },
}

const weighted: Json = [{ field: 'title', weight: 3 }, { field: 'body' }]

export const TEXT_INDEXES: readonly JsonObject[] = [
  { name: 'text', kind: 'text', fields: weighted },
  { name: 'tags', kind: 'text', fields: [{ field: 'tags' }] },
  { name: 'english', kind: 'text', language: 'english', fields: weighted },
  { name: 'german', kind: 'text', language: 'german', fields: weighted },
]

/** `matches` are positions of documents; with `sort`, in the order of the answer. */
export interface TextCase {
  readonly rule: string
  readonly documents: readonly string[]
  readonly search: string
  readonly index?: string
  readonly sort?: string
  readonly matches: readonly number[]
}

const row = (rule: string, search: string, documents: readonly string[], ...matches: number[]): TextCase => ({
  rule,
  search,
  documents,
  matches,
})
const on = (index: string, found: TextCase): TextCase => ({ ...found, index })
const sorted = (sort: string, found: TextCase): TextCase => ({ ...found, sort })
const title = (text: string): string => JSON.stringify({ title: text })

const BLUE = '{"title":"Blue night","body":"The night sky; stars."}'
const RED = '{"title":"Red night","body":"A red sky at night. Blue."}'

export const TEXT_CASES: readonly TextCase[] = [
  row('all parts of a search hold together', 'blue "night sky" -red sta*', [BLUE, RED], 0),
  row('all words must occur', 'blue stars', [BLUE, RED], 0),
  row('words may occur in any order', 'stars blue', [BLUE, RED], 0),
  row('words may occur in any of the fields', 'red blue', [BLUE, RED], 1),
  row('a word must occur as a whole', 'star', [BLUE, RED]),
  row('a word may be asked for twice', 'blue BLUE', [BLUE, RED], 0, 1),
  row('a phrase has its words one after the other', '"night sky"', [BLUE, RED], 0),
  row('a phrase has its words in their order', '"sky night"', [BLUE, RED]),
  row('a phrase is in one field', '"night the"', [BLUE, RED]),
  on('tags', row('a phrase is in one element', '"night sky"', ['{"tags":["night","sky"]}'])),
  on('tags', row('elements of an array are searched', 'night sky', ['{"tags":["night","sky"]}'], 0)),
  row('a phrase of one word is that word', '"blue"', [BLUE, RED], 0, 1),
  row('an excluded word does not occur', 'night -red', [BLUE, RED], 0),
  row('an excluded phrase does not occur', 'night -"red sky"', [BLUE, RED], 0),
  row('the words of an excluded phrase may occur', 'night -"sky blue"', [BLUE, RED], 0, 1),
  row('an excluded beginning does not occur', 'night -sta*', [BLUE, RED], 1),
  row('a search may only exclude', '-stars', [BLUE, RED, '{}', '{"title":null}'], 1, 2, 3),
  row('a prefix is the beginning of a word', 'sta*', [BLUE, RED], 0),
  row('a prefix may be the whole word', 'stars*', [BLUE, RED], 0),
  row('a prefix is not the middle of a word', 'tars*', [BLUE, RED]),
  row('a phrase may end with a prefix', '"night sk"*', [BLUE, RED], 0),
  row('a prefix inside of a phrase is none', '"nigh* sky"', [BLUE, RED]),
  row('words are cut by UAX 29: apostrophes and points join', "can't 3.5", [title("I can't: 3.5")], 0),
  row('words are cut by UAX 29: a part of such a word is none', 'can', [title("I can't")]),
  row('words are cut by UAX 29: hyphens do not join', 'green', [title('blue-green')], 0),
  row(
    'what is cut into several words is a phrase',
    'blue-green',
    [title('blue green'), title('green blue')],
    0,
  ),
  row('each letter of Chinese and Japanese is a word', '京都', [title('東京都'), title('京の都')], 0),
  row('emoji are words', '🎉', [title('party 🎉!'), title('🎊')], 0),
  row('NFKC: compatible characters are the same', 'find full', [title('ﬁnd ＦＵＬＬ')], 0),
  row('NFKC: marks may be composed or not', 'e\u0301te\u0301', [title('été')], 0),
  row('case is folded', 'STRASSE οδυσσευς', [title('Straße ΟΔΥΣΣΕΥΣ')], 0),
  row('diacritics are removed', 'zurich naive', [title('Zürich, naïve')], 0),
  row('diacritics are removed in the search, too', 'Zürich', [title('Zurich')], 0),
  row('vowel signs and voicing marks are no diacritics', 'か', [title('が'), title('か')], 1),
  row('there is no stemming', 'run', [title('running'), title('run')], 1),
  on('english', row('a language has stems', 'run', [title('Running'), title('runs'), title('ran')], 0, 1)),
  on('english', row('words of a search have stems, too', 'RUNNING', [title('runs')], 0)),
  on(
    'english',
    row('words of phrases have stems', '"run dog"', [title('running dogs'), title('dogs run')], 0),
  ),
  on('english', row('excluded words have stems', 'dog -runs', [title('running dogs'), title('dogs')], 1)),
  on('english', row('a prefix is about words as written', 'runn*', [title('running'), title('runs')], 0)),
  on('english', row('a prefix may be longer than the stem', 'starlings*', [title('starlings')], 0)),
  on(
    'english',
    row('a phrase with a prefix is as written', '"dog ru"*', [title('dogs run'), title('dog run')], 1),
  ),
  on(
    'german',
    row('stems are those of the language', 'Hauses', [title('Häuser'), title('Haus'), title('houses')], 0, 1),
  ),
  on('german', row('diacritics are removed after stemming', 'hauser', [title('HÄUSERN')], 0)),
  on('german', row('words without a stem are words', '京都 🎉 3.5', [title('東京都 🎉 3.5')], 0)),
  sorted(
    '{"$score":"$desc"}',
    row('each occurrence counts', 'blue', ['{"body":"blue"}', '{"body":"blue blue"}'], 1, 0),
  ),
  sorted(
    '{"$score":"$desc"}',
    row(
      'an occurrence counts the weight of its field',
      'blue',
      ['{"body":"blue blue"}', '{"title":"blue"}'],
      1,
      0,
    ),
  ),
  sorted(
    '{"$score":"$asc"}',
    row('the least relevant comes first ascending', 'blue', ['{"title":"blue"}', '{"body":"blue"}'], 1, 0),
  ),
  sorted(
    '{"$score":"$desc"}',
    row(
      'ties are broken by _id',
      'blue',
      ['{"body":"blue"}', '{"body":"a blue"}', '{"title":"blue"}'],
      2,
      0,
      1,
    ),
  ),
  sorted(
    '[{"$score":"$desc"},{"title":"$desc"}]',
    row('other keys break ties', 'blue', ['{"title":"a blue"}', '{"title":"b blue"}'], 1, 0),
  ),
  sorted(
    '{"$score":"$desc"}',
    row('phrases and beginnings count', '"a b" b*', ['{"body":"a b"}', '{"body":"a b a b bc"}'], 1, 0),
  ),
  sorted(
    '{"$score":"$desc"}',
    row('a phrase counts again after its end', '"a a" c', ['{"body":"a a a c"}', '{"body":"a a c c"}'], 1, 0),
  ),
  on(
    'english',
    sorted(
      '{"$score":"$desc"}',
      row('each form of a stem counts', 'run', ['{"body":"run"}', '{"body":"runs running"}'], 1, 0),
    ),
  ),
]

/** A body of a find, its code, and what the message says. */
export const TEXT_REFUSALS: readonly (readonly [rule: string, body: string, code: string, says: RegExp])[] = [
  [
    'an index that is not there',
    '{"query":{"text":"a","index":"other"}}',
    'query-api:InvalidQuery',
    /there are "text"/,
  ],
  [
    'no index, where there are several',
    '{"query":{"text":"a"}}',
    'query-api:InvalidQuery',
    /say which "index"/,
  ],
  ['a search without words', '{"query":{"text":"-!","index":"text"}}', 'query-api:InvalidQuery', /no word/],
  ['an empty search', '{"query":{"text":" ","index":"text"}}', 'query-api:InvalidQuery', /no word/],
  ['a phrase without an end', '{"query":{"text":"\\"a","index":"text"}}', 'query-api:InvalidQuery', /quote/],
  [
    '$score without a search',
    '{"query":{"$and":[]},"sort":{"$score":"$desc"}}',
    'query-api:InvalidSort',
    /needs a text search/,
  ],
  [
    '$score of what is denied',
    '{"query":{"$not":{"text":"a","index":"text"}},"sort":{"$score":"$desc"}}',
    'query-api:InvalidSort',
    /needs a text search/,
  ],
]
