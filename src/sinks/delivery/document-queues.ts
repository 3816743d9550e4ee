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
  removeHead(doc: string, items: Items): void
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
  const queues = new Map<string, number[]>()
  const due = createHeap<Due>((a, b) => a.at < b.at || (a.at === b.at && a.seq < b.seq))
  const fresh = createHeap<number>((a, b) => a < b)

  function offer(doc: string, known: Items): void {
    const first = queues.get(doc)?.[0]
    if (first === undefined) return
    const item = known.get(first)
    if (!item) fresh.push(first)
    // a dead head is not offered: it blocks its document until it is redriven or discarded
    else if (item.state === 'waiting') due.push({ at: item.nextAt, seq: first })
  }

  for (const { seq, doc } of items) queueOf(queues, doc).push(seq)
  const bySeq = new Map(items.map((item) => [item.seq, item]))
  for (const doc of queues.keys()) offer(doc, bySeq)

  return {
    firstOf: (doc) => queues.get(doc)?.[0],
    behind: (doc) => queues.get(doc)?.slice(1) ?? [],
    joinFresh(seq, doc) {
      const queue = queueOf(queues, doc)
      queue.push(seq)
      if (queue.length === 1) fresh.push(seq)
    },
    removeHead(doc, known) {
      const queue = queueOf(queues, doc)
      queue.shift()
      if (queue.length === 0) queues.delete(doc)
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

function queueOf(queues: Map<string, number[]>, doc: string): number[] {
  const queue = queues.get(doc)
  if (queue) return queue
  const made: number[] = []
  queues.set(doc, made)
  return made
}
