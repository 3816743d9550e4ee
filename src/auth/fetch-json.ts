/** Fetches a JSON document of an identity provider, with limits for time and size. */
import type { Json } from '../base/json/json.ts'
import { parseJson } from '../base/json/parse-json.ts'
import { isLoopback } from './loopback.ts'

/** Whether keys may be fetched from this URL: only https and loopback protect them from modification. */
export function isSafeUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
}

export async function fetchJson(url: string): Promise<Json> {
  if (!isSafeUrl(url)) throw new Error(`${url} is not an https address`)
  const response = await fetch(url, {
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Error(`${url} answered ${response.status}`)
  }
  return parseJson(await boundedText(response, url), 32)
}

const TIMEOUT_MS = 5_000
const MAX_BYTES = 1_024 * 1_024

async function boundedText(response: Response, url: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MAX_BYTES) throw new Error(`${url} answered more than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
