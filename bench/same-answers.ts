/** Makes sure that both sides answer the same, before anybody measures how fast. */
import { isDeepStrictEqual } from 'node:util'
import type { Server } from './children.ts'
import type { Sent } from './documents.ts'
import type { Figure } from './figure.ts'

const COMPARED = 40

/** Fails with the first request that is answered differently. */
export async function compareAnswers(figure: Figure, subject: Server, limit: Server): Promise<void> {
  const { requests, name } = figure
  const step = Math.max(1, Math.floor(requests.length / COMPARED))
  for (let i = 0; i < requests.length; i += step) {
    const sent = requests[i]!
    const [ours, theirs] = [await textOf(subject, sent), await textOf(limit, sent)]
    const isRight = ours.includes(sent.expect) && isDeepStrictEqual(JSON.parse(ours), JSON.parse(theirs))
    if (!isRight) throw new Error(`${name}: ${bodyOf(sent)}\n${differenceOf(ours, theirs)}`)
  }
}

async function textOf({ api }: Server, sent: Sent): Promise<string> {
  const [method = '', path = ''] = sent.text.split(' ', 2)
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${api}${path}`, { method, headers, body: bodyOf(sent) })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${method} ${path} answers ${response.status}: ${text}`)
  return text
}

function bodyOf({ text }: Sent): string {
  return text.slice(text.indexOf('\r\n\r\n') + 4)
}

/** From a little before the first byte in which they differ. */
function differenceOf(ours: string, theirs: string): string {
  let at = 0
  while (at < ours.length && ours[at] === theirs[at]) at++
  const shown = (text: string): string => text.slice(Math.max(0, at - 200), at + 200)
  return `Smalt answers     …${shown(ours)}…\nthe limit answers …${shown(theirs)}…`
}
