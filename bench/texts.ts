/** Articles of about 1 KB, and searches for two words in them, beside full-text search of the engines in SQL by hand. */
import { type Json, type Sent, metadata, request } from './documents.ts'
import { type Figure, BARE, several } from './figure.ts'

export const ARTICLE = 'article'
export const PAGE_OF_ARTICLES = 10
const WORDS_PER_ARTICLE = 145
const WORDS_PER_TITLE = 6

const SYLLABLES = 'ka lo mi ten ra sul vo ne pir da gus he fa lin mo'.split(' ')

/** Words by how common they are: the second one is about half as common as the first, as in languages. */
const VOCABULARY: readonly string[] = several(5_000, (i) => {
  const [a, b, c] = [i, i * 7 + 3, i * 13 + 5].map((n) => SYLLABLES[n % SYLLABLES.length]!)
  return `${a}${b}${i % 3 === 0 ? '' : c}${i.toString(36)}`
})
/** What the ranks of the words begin with, so that the most common ones are not in every article. */
const OFFSET = 10

export function articleMetadata(): Json {
  const fields = { title: { type: 'string' }, body: { type: 'string' } }
  const made = metadata(ARTICLE, fields, [])
  const index = { name: 'text', kind: 'text', fields: [{ field: 'title', weight: 3 }, { field: 'body' }] }
  return { ...made, entityInfo: { ...made.entityInfo, indexes: [index] } }
}

export function article(i: number): Json {
  const next = randomFrom(i)
  const words = (n: number): string => several(n, () => commonWord(next())).join(' ')
  return { title: words(WORDS_PER_TITLE), body: `${words(WORDS_PER_ARTICLE)}.` }
}

function commonWord(chance: number): string {
  const rank = OFFSET * (((VOCABULARY.length + OFFSET) / OFFSET) ** chance - 1)
  return VOCABULARY[Math.min(VOCABULARY.length - 1, Math.floor(rank))]!
}

/** Numbers from 0 to 1, the same for the same article. */
function randomFrom(i: number): () => number {
  let state = Math.imul(i + 1, 0x9e3779b1) >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

export function textFigures(): readonly Figure[] {
  return [
    {
      name: 'text',
      title: 'search for two words, 10 of all matches',
      connections: 4,
      requests: several(200, (i) => searchFor(i)),
      against: BARE,
      isCompared: true,
    },
    {
      name: 'text-score',
      title: 'the 10 most relevant for two words',
      connections: 4,
      requests: several(200, (i) => searchFor(i, { $score: '$desc' })),
      against: BARE,
    },
  ]
}

/** Words that some hundreds to thousands of 100,000 articles have in common. */
function searchFor(i: number, sort?: Json): Sent {
  const [a, b] = [100 + ((i * 37) % 300), 100 + ((i * 101 + 50) % 300)]
  const body = {
    query: { text: `${VOCABULARY[a]!} ${VOCABULARY[b]!}` },
    projection: { field: '*', recursive: true },
    range: [0, PAGE_OF_ARTICLES - 1],
    ...(sort !== undefined && { sort }),
  }
  return { text: request('POST', `/data/find/${ARTICLE}`, JSON.stringify(body)), expect: '"processed":[{' }
}
