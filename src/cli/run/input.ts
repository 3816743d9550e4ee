/** Documents that a command gets as a word, or from standard input. */
import type { Json } from '../../base/json/json.ts'
import { jsonFrom } from '../client/request-parts.ts'
import { usageError } from '../usage-error.ts'

/** `mark`, or no word, means standard input: one JSON value, or one for each line. */
export async function readInput(text: string | undefined, mark: string): Promise<Json> {
  if (text !== undefined && text !== mark) {
    if (/^\s*[{[]/.test(text)) return jsonFrom(text, 'the document')
    throw usageError('documents are JSON, or - for standard input; smalt import reads files')
  }
  const input = await standardInput()
  if (input.trim() === '') throw usageError('standard input is empty; send documents as JSON')
  const lines = input
    .split('\n')
    .map((text, i) => ({ text, number: i + 1 }))
    .filter(({ text }) => text.trim() !== '')
  const isByLine = lines.length > 1 && lines.every(({ text }) => /^\s*\{.*\}\s*$/.test(text))
  return isByLine
    ? lines.map(({ text, number }) => jsonFrom(text, `line ${number} of standard input`))
    : jsonFrom(input, 'standard input')
}

/** Half of what a string can hold, because the request that contains the documents is a string, too. */
const MAX_BYTES = 256 * 1024 * 1024

async function standardInput(): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BYTES)
      throw usageError('standard input is larger than 256 MiB; smalt import reads files of any size')
    chunks.push(chunk)
  }
  try {
    // also takes a byte order mark away
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch {
    throw usageError('standard input is not valid UTF-8')
  }
}
