/** The lines of a streamed response, and the documents in those of a streamed find. */
import type { Json } from '../../base/json/json.ts'
import { parseJson } from '../../base/json/parse-json.ts'
import { isArray, member } from '../../base/json/json.ts'
import { EXIT, Exit } from '../exit.ts'
import { unreachable } from './client.ts'
import { errorLine } from './failure.ts'

export async function* linesOf(base: string, response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest = ''
  const chunks = response.body ?? []
  try {
    for await (const chunk of chunks as AsyncIterable<Uint8Array>) {
      rest += decoder.decode(chunk, { stream: true })
      const lines = rest.split('\n')
      rest = lines.pop()!
      yield* lines
    }
  } catch (error) {
    throw error instanceof Exit ? error : unreachable(base, error)
  }
  rest += decoder.decode()
  if (rest !== '') yield rest
}

const DOCUMENT = /^\{(?:"last":true,)?"processed":/
const AFTER_DOCUMENT = ',"resultMetadata":'
const MAX_DEPTH = 200

/**
 * The text of each document of a streamed find, cut out of its line, with all digits. Fails if the stream ends early: a
 * part must not pass for the whole.
 */
export async function* documentsOf(base: string, response: Response): AsyncGenerator<string> {
  let isFirst = true
  let last: Json | undefined
  for await (const line of linesOf(base, response)) {
    const begin = DOCUMENT.exec(line)
    if (begin) {
      const end = line.lastIndexOf(AFTER_DOCUMENT)
      yield line.slice(begin[0].length, end)
    } else if (!isFirst) last = parseJson(line, MAX_DEPTH)
    isFirst = false
  }
  if (last === undefined)
    throw new Exit(EXIT.unreachable, `the response of ${base} ended before it was complete`)
  const errors = member(last, 'errors')
  if (isArray(errors) && errors.length > 0) throw new Exit(EXIT.failed, errorLine(errors[0]))
}
