/** How fast one reader gets through the events there are, page by page, as whoever was away for a while does. */
import type { Server } from './children.ts'

export interface Drained {
  readonly eventsPerSecond: number
  readonly eventsPerRequest: number
  readonly bytesPerEvent: number
  /** Processor time of the server for one event. */
  readonly cpuMicros: number
}

const LIMIT = 1_000
/** What is compiled while it runs needs a few pages to become what it will be. */
const WARMUP_PAGES = 10

interface Page {
  readonly events: readonly { readonly seq: number }[]
  readonly next: number
}

/** `least`: how many events there must be. */
export async function drain(
  server: Server,
  { seconds, least }: { readonly seconds: number; readonly least: number },
): Promise<Drained> {
  const { api } = server
  for (let i = 0, since = 0; i < WARMUP_PAGES; i++) since = (await readPage(api, since)).page.next
  const total = { events: 0, requests: 0, bytes: 0 }
  const [cpuBefore, begun] = [server.cpuMs(), performance.now()]
  const elapsed = (): number => (performance.now() - begun) / 1_000
  // over and over, but from the first event to the last one at least once
  for (let pass = 0; pass === 0 || elapsed() < seconds; pass++) {
    let since = 0
    let seen = 0
    for (;;) {
      const { page, bytes } = await readPage(api, since)
      if (page.events.length === 0) break
      total.requests++
      total.bytes += bytes
      seen += page.events.length
      since = page.next
    }
    if (seen < least) throw new Error(`${least} documents were written, and there are only ${seen} events`)
    total.events += seen
  }
  return {
    eventsPerSecond: total.events / elapsed(),
    eventsPerRequest: total.events / total.requests,
    bytesPerEvent: total.bytes / total.events,
    cpuMicros: ((server.cpuMs() - cpuBefore) * 1_000) / total.events,
  }
}

/** The answer as a reader wants it: parsed, and known to be without a hole. */
async function readPage(
  api: string,
  since: number,
): Promise<{ readonly page: Page; readonly bytes: number }> {
  const response = await fetch(`${api}/events?since=${since}&limit=${LIMIT}`)
  const text = await response.text()
  if (response.status !== 200) throw new Error(`/events answers ${response.status}: ${text}`)
  const page = JSON.parse(text) as Page
  const isInOrder = page.events.every(({ seq }, i) => seq > (page.events[i - 1]?.seq ?? since))
  if (!isInOrder) throw new Error(`events after ${since} are out of order: ${text.slice(0, 500)}`)
  return { page, bytes: Buffer.byteLength(text) }
}
