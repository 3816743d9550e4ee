/** Finds out which character separates the cells of a CSV file, by its first line. */
import type { Chunks } from './record.ts'

export const DELIMITERS = [',', ';', '\t', '|'] as const

/** Longer headers are judged by their beginning. */
const MAX_HEADER = 64 * 1024

interface Delimited {
  readonly delimiter: string
  /** All chunks, including those that were looked at. */
  readonly chunks: Chunks
}

/** Reads on until the first line is complete. */
export async function detectDelimiter(chunks: Chunks, given?: string): Promise<Delimited> {
  if (given !== undefined) return { delimiter: given, chunks }
  const iterator = chunks[Symbol.asyncIterator]()
  const seen: Uint8Array[] = []
  let size = 0
  let isEnded = false
  while (size < MAX_HEADER && !seen.some((chunk) => chunk.includes(0x0a))) {
    const next = await iterator.next()
    if (next.done === true) {
      isEnded = true
      break
    }
    seen.push(next.value)
    size += next.value.length
  }
  const text = Buffer.concat(seen).toString('utf8')
  return { delimiter: delimiterIn(text), chunks: rejoined(seen, isEnded ? undefined : iterator) }
}

async function* rejoined(
  seen: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array> | undefined,
): AsyncGenerator<Uint8Array> {
  try {
    for (const chunk of seen) {
      // These chunks are in memory already, so nothing else would run while all of them are parsed.
      await new Promise(setImmediate)
      yield chunk
    }
    if (!rest) return
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
  } finally {
    await rest?.return?.()
  }
}

/** The candidate that separates most cells of the first line, outside of quotes. */
export function delimiterIn(text: string): string {
  const counts = new Map<string, number>(DELIMITERS.map((each) => [each, 0]))
  let isQuoted = false
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted
    else if ((character === '\n' || character === '\r') && !isQuoted) break
    else if (!isQuoted && counts.has(character)) counts.set(character, counts.get(character)! + 1)
  }
  const [best] = [...counts].sort((a, b) => b[1] - a[1])
  return best![1] === 0 ? ',' : best![0]
}
