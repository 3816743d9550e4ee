/**
 * Inserts by `values`, for a cluster: it sends each row directly to its node, and an error keeps its SQLSTATE. From a
 * subselect it would copy the rows, which is slower and loses the SQLSTATE.
 */
import { SizedCache } from '../../../base/sized-cache.ts'
import type { SqlValue, Statement } from '../../sql/fragment.ts'
import { POSTGRES } from '../../sql/postgres-dialect.ts'

type Values = readonly SqlValue[]

/** Numbers of rows in one statement: few, so that few texts are prepared. */
const SIZES = [500, 200, 100, 50, 20, 10, 5, 2, 1] as const
/** Half of what a statement may have. */
const MAX_PARAMETERS = 32_000

/** `into` names the table and its columns; `after` follows the rows. */
export function insertValues(into: string, rows: readonly Values[], after = ''): readonly Statement[] {
  const width = rows[0]?.length ?? 1
  return inSizes(rows, Math.floor(MAX_PARAMETERS / width)).map((slice) => {
    const places = placesOf(slice.length, width)
    return { text: `insert into ${into} values ${places}${after}`, values: slice.flat() }
  })
}

/** `($1, $2), ($3, $4)` for two rows of two columns: to write them takes longer than the rest of a statement. */
function placesOf(rows: number, width: number): string {
  const key = `${rows} ${width}`
  const known = knownPlaces.get(key)
  if (known !== undefined) return known
  const places = Array.from({ length: rows }, (_, i) => tuple(i * width, width)).join(', ')
  knownPlaces.set(key, places, places.length)
  return places
}

const MAX_CHARACTERS = 1_000_000
const knownPlaces = new SizedCache<string, string>(MAX_CHARACTERS)

function tuple(first: number, width: number): string {
  const places = Array.from({ length: width }, (_, i) => POSTGRES.placeholder(first + i + 1))
  return `(${places.join(', ')})`
}

function inSizes<T>(items: readonly T[], max: number): readonly (readonly T[])[] {
  const slices: (readonly T[])[] = []
  for (let i = 0; i < items.length;) {
    const left = items.length - i
    const size = SIZES.find((each) => each <= left && each <= max)!
    slices.push(items.slice(i, i + size))
    i += size
  }
  return slices
}
