/** Case folding in PostgreSQL: a function with the results of `foldCase`, independent of the database's locale. */
import { createHash } from 'node:crypto'
import { once } from '../../base/memo.ts'
import { foldings } from './pattern/pattern-set.ts'

/**
 * The name of the function, with a digest of its body. Indexes are built on its results, so an existing
 * function never changes. When Node.js brings another Unicode version, or this file another body, the name
 * changes: the store creates the new function beside the old one, and does not use indexes over the old one
 * for the new one.
 */
export const foldFunctionName: () => string = once(
  () => `smalt_fold_${createHash('sha256').update(foldBody()).digest('hex').slice(0, 8)}`,
)

/** SQL that creates the function in `schema`, a quoted identifier; has no effect when the function exists. */
export function createFoldFunction(schema: string): string {
  return `create or replace function ${schema}.${foldFunctionName()}(x text) returns text
language plpgsql immutable strict parallel safe as $$begin return ${foldBody()}; end$$`
}

/**
 * `translate` compares each character with the whole table, so it is called only for texts that it changes,
 * and with the shortest sufficient table. The language is PL/pgSQL: a function in SQL is either slower to
 * call, or inlined, and then its argument is evaluated many times.
 */
const foldBody: () => string = once(() => {
  const table = [...foldings()]
    .filter(([letter]) => letter > LAST_ASCII)
    .map(([from, to]): Pair => ({ from, to }))
  const shorter = SHORT_TABLES.map((last) => {
    const pairs = table.filter(({ from }) => from <= last)
    return `when x collate "C" !~ '***:[^\\u0001-\\u${hex4(last)}]' then ${translation(pairs)}`
  })
  return `case
when octet_length(x) = char_length(x) or x collate "C" !~ '***:[${text(table, 'from')}]' then lower(x collate "C")
${shorter.join('\n')}
else ${translation(table)} end`
})

interface Pair {
  readonly from: number
  readonly to: number
}

const LAST_ASCII = 0x7f
/** The last Latin letter of most languages, and the last of Greek and Cyrillic. */
const SHORT_TABLES: readonly number[] = [0x17f, 0x52f]

/** With the collation "C", `lower` changes ASCII letters only. */
function translation(pairs: readonly Pair[]): string {
  return `translate(lower(x collate "C"), '${text(pairs, 'from')}', '${text(pairs, 'to')}')`
}

function text(pairs: readonly Pair[], side: keyof Pair): string {
  return pairs.map((pair) => String.fromCodePoint(pair[side])).join('')
}

function hex4(point: number): string {
  return point.toString(16).padStart(4, '0')
}
