/**
 * One queue per document with undelivered events. Only the head of a queue may be sent, which keeps the order
 * within a document.
 */
import type { SinkItem } from '../../store/sinks.ts'
import { createHeap } from './heap.ts'

export interface DocumentQueues {
  firstOf(doc: string): number | undefined
  behind(doc: string): readonly number[]
  /** Appends to the queue; an event that is alone in its queue can be sent at once. */
  joinFresh(seq: number, doc: string): void
  /** Removes the head; the next event becomes available when it is due. */
  leave(doc: string, items: Items): void
  /** Makes the head available for sending when it is due. */
  offer(doc: string, items: Items): void
  /**
   * The item with the earliest due time. It is removed here and returned again only after another `offer`.
   */
  nextDue(now: number): number | undefined
  nextDueAt(): number | undefined
  /** The oldest event without an attempt. */
  nextFresh(): number | undefined
  hasFresh(): boolean
}

type Items = ReadonlyMap<number, SinkItem>

export function createDocumentQueues(items: readonly SinkItem[]): DocumentQueues {
  const lines = new Map<string, number[]>()
  const due = createHeap<Due>((a, b) => a.at < b.at || (a.at === b.at && a.seq < b.seq))
  const fresh = createHeap<number>((a, b) => a < b)

  function offer(doc: string, known: Items): void {
    const first = lines.get(doc)?.[0]
    if (first === undefined) return
    const item = known.get(first)
    if (!item) fresh.push(first)
    // a dead head is not offered: it blocks its document until it is redriven or discarded
    else if (item.state === 'waiting') due.push({ at: item.nextAt, seq: first })
  }

  for (const { seq, doc } of items) lineOf(lines, doc).push(seq)
  const bySeq = new Map(items.map((item) => [item.seq, item]))
  for (const doc of lines.keys()) offer(doc, bySeq)

  return {
    firstOf: (doc) => lines.get(doc)?.[0],
    behind: (doc) => lines.get(doc)?.slice(1) ?? [],
    joinFresh(seq, doc) {
      const line = lineOf(lines, doc)
      line.push(seq)
      if (line.length === 1) fresh.push(seq)
    },
    leave(doc, known) {
      const line = lineOf(lines, doc)
      line.shift()
      if (line.length === 0) lines.delete(doc)
      else offer(doc, known)
    },
    offer,
    nextDue: (now) => ((due.peek()?.at ?? Infinity) <= now ? due.pop()!.seq : undefined),
    nextDueAt: () => due.peek()?.at,
    nextFresh: () => fresh.pop(),
    hasFresh: () => fresh.peek() !== undefined,
  }
}

interface Due {
  readonly at: number
  readonly seq: number
}

function lineOf(lines: Map<string, number[]>, doc: string): number[] {
  const line = lines.get(doc)
  if (line) return line
  const made: number[] = []
  lines.set(doc, made)
  return made
}
