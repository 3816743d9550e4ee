/** The end of an interrupted export: its last complete line says where to go on. */
import { open } from 'node:fs/promises'
import { type Json, member } from '../../base/json/json.ts'
import { parseJson } from '../../base/json/parse-json.ts'
import { EXIT, Exit } from '../exit.ts'

const CHUNK = 1024 * 1024
const MAX_DEPTH = 200

/** The `_id` of the last document. A line that was cut off is removed. Undefined for an empty file. */
export async function lastId(path: string): Promise<Json | undefined> {
  const file = await open(path, 'r+').catch((error: unknown) => {
    throw new Exit(EXIT.failed, `there is no export to continue: ${(error as Error).message}`)
  })
  try {
    const { size } = await file.stat()
    let begin = size
    let tail = Buffer.alloc(0)
    // two line ends enclose the last complete line
    while (begin > 0 && lineEnds(tail) < 2) {
      const length = Math.min(CHUNK, begin)
      begin -= length
      const { buffer } = await file.read(Buffer.alloc(length), 0, length, begin)
      tail = Buffer.concat([buffer, tail])
    }
    const end = tail.lastIndexOf(0x0a)
    const line = tail.subarray(tail.lastIndexOf(0x0a, end - 1) + 1, end).toString('utf8')
    const id = end < 0 ? undefined : idIn(line)
    // another file must not lose its end
    if (end < 0 ? !isBegunDocument(tail) : id === undefined)
      throw new Exit(EXIT.failed, `the last line of ${path} is no exported document with an _id`)
    await file.truncate(begin + end + 1)
    return id
  } finally {
    await file.close()
  }
}

function lineEnds(bytes: Buffer): number {
  const last = bytes.lastIndexOf(0x0a)
  if (last < 0) return 0
  return last > 0 && bytes.lastIndexOf(0x0a, last - 1) >= 0 ? 2 : 1
}

/** Whether a first line that was cut off is the beginning of an exported document; also if there is nothing of it. */
function isBegunDocument(line: Buffer): boolean {
  if (!DOCUMENT.startsWith(line.toString('utf8', 0, DOCUMENT.length))) return false
  const text = line.toString('utf8')
  return !isJson(text) || idIn(text) !== undefined
}

function isJson(text: string): boolean {
  try {
    parseJson(text, MAX_DEPTH)
    return true
  } catch {
    return false
  }
}

const DOCUMENT = '{"'

function idIn(line: string): Json | undefined {
  try {
    return member(parseJson(line, MAX_DEPTH), '_id')
  } catch {
    return undefined
  }
}
