/** The documents of the demo: about 15,000, made up from a few words, the same in every run. */
import type { JsonObject } from '../../base/json/json.ts'
import { type Chance, chanceFrom } from './chance.ts'

const GENRES = [
  'Blues',
  'Chamber',
  'Chanson',
  'Dub',
  'Electronic',
  'Folk',
  'Hip hop',
  'Jazz',
  'Metal',
  'Opera',
  'Rock',
  'Soul',
]
const FIRST = [
  'Amber',
  'Blue',
  'Cold',
  'Distant',
  'Electric',
  'Golden',
  'Hollow',
  'Iron',
  'Late',
  'Northern',
  'Paper',
  'Quiet',
  'Silver',
  'Velvet',
]
const SECOND = [
  'Birds',
  'Circus',
  'Engine',
  'Fields',
  'Gardens',
  'Harbour',
  'Letters',
  'Mirrors',
  'Orchard',
  'River',
  'Signals',
  'Stairs',
  'Windows',
  'Winter',
]
const PEOPLE = [
  'Ada',
  'Anna',
  'Beat',
  'Carla',
  'David',
  'Elif',
  'Franz',
  'Greta',
  'Hugo',
  'Ida',
  'Jonas',
  'Kim',
  'Lea',
  'Milo',
  'Nora',
  'Otto',
]
const FAMILIES = [
  'Baumann',
  'Costa',
  'Dubois',
  'Egli',
  'Frei',
  'Graf',
  'Huber',
  'Keller',
  'Meier',
  'Novak',
  'Rossi',
  'Weber',
]
const CITIES = ['Basel', 'Bern', 'Chur', 'Genève', 'Lausanne', 'Lugano', 'Luzern', 'Zürich']
const COUNTRIES = ['AT', 'CH', 'DE', 'FR', 'GB', 'IT', 'US']
const FORMATS = ['CD', 'download', 'LP']
const STATES = ['open', 'paid', 'sent']
const OPINIONS = [
  'a quiet start',
  'better each time',
  'not for everyone',
  'one long evening',
  'worth the price',
]

const COUNTS = { artist: 400, album: 1_600, customer: 600, order: 2_400, review: 1_500, employee: 20 }

/** Entity → documents, in an order in which references lead back. */
export function shopDocuments(): ReadonlyMap<string, readonly JsonObject[]> {
  const chance = chanceFrom(20)
  const albums = many(COUNTS.album, (i) => album(i, chance))
  return new Map<string, readonly JsonObject[]>([
    ['genre', GENRES.map((name, i) => ({ _id: `g${i}`, name }))],
    [
      'artist',
      many(COUNTS.artist, (i) => ({
        _id: `ar${i}`,
        name: bandName(chance),
        country: chance.pick(COUNTRIES),
      })),
    ],
    ['album', albums],
    ['track', albums.flatMap(({ _id }) => tracksOf(_id as string, chance))],
    [
      'employee',
      many(COUNTS.employee, (i) => ({
        _id: `e${i}`,
        ...person(chance),
        salary: money(chance, 5_000, 9_000),
      })),
    ],
    [
      'customer',
      many(COUNTS.customer, (i) => ({ _id: `c${i}`, ...person(chance), email: `customer${i}@example.com` })),
    ],
    ['order', many(COUNTS.order, (i) => order(i, chance))],
    ['review', many(COUNTS.review, (i) => review(i, chance))],
  ])
}

function many(count: number, make: (i: number) => JsonObject): readonly JsonObject[] {
  return Array.from({ length: count }, (_, i) => make(i))
}

function bandName(chance: Chance): string {
  return `${chance.below(3) === 0 ? 'The ' : ''}${chance.pick(FIRST)} ${chance.pick(SECOND)}`
}

function album(i: number, chance: Chance): JsonObject {
  return {
    _id: `al${i}`,
    title: `${chance.pick(SECOND)} and ${chance.pick(SECOND)}`,
    artistId: `ar${chance.below(COUNTS.artist)}`,
    genreId: `g${chance.below(GENRES.length)}`,
    year: 1960 + chance.below(65),
    price: money(chance, 8, 40),
    formats: FORMATS.filter(() => chance.below(2) === 0),
  }
}

function tracksOf(albumId: string, chance: Chance): readonly JsonObject[] {
  return many(4 + chance.below(4), (i) => ({
    _id: `${albumId}-${i + 1}`,
    albumId,
    number: i + 1,
    title: `${chance.pick(FIRST)} ${chance.pick(SECOND).toLowerCase()}`,
    seconds: 120 + chance.below(300),
  }))
}

function person(chance: Chance): JsonObject {
  return { name: `${chance.pick(PEOPLE)} ${chance.pick(FAMILIES)}`, city: chance.pick(CITIES) }
}

/** Exact to the cent, as a number that keeps its zeros. */
function money(chance: Chance, from: number, to: number): JsonObject[string] {
  return JSON.rawJSON((from + chance.below((to - from) * 20) / 20).toFixed(2))
}

function order(i: number, chance: Chance): JsonObject {
  const lines = many(1 + chance.below(4), () => ({
    albumId: `al${chance.below(COUNTS.album)}`,
    quantity: 1 + chance.below(3),
    price: money(chance, 8, 40),
  }))
  const cents = lines.reduce((sum, { quantity, price }) => sum + Number(quantity) * centsOf(price!), 0)
  return {
    _id: `o${i}`,
    customerId: `c${chance.below(COUNTS.customer)}`,
    date: dateOf(chance),
    // the example in the welcome changes this one
    state: i === 7 ? 'open' : chance.pick(STATES),
    total: JSON.rawJSON((cents / 100).toFixed(2)),
    lines,
  }
}

function centsOf(price: JsonObject[string]): number {
  return Math.round(Number((price as { readonly rawJSON: string }).rawJSON) * 100)
}

function review(i: number, chance: Chance): JsonObject {
  return {
    _id: `r${i}`,
    albumId: `al${chance.below(COUNTS.album)}`,
    stars: 1 + chance.below(5),
    text: chance.pick(OPINIONS),
    date: dateOf(chance),
  }
}

const BEGIN = Date.UTC(2023, 0, 1)
const MINUTES = 3 * 365 * 24 * 60

function dateOf(chance: Chance): string {
  return new Date(BEGIN + chance.below(MINUTES) * 60_000).toISOString()
}
