/** Messages between the worker processes behind one port and the primary process. */
import type { Snapshot } from '../../http/observe/metrics.ts'

/** From a worker to the primary process. */
export type FromWorker =
  | { readonly kind: 'listening'; readonly port: number; readonly store: string }
  /** A request for metrics reached this worker: it needs the measurements of all workers. */
  | { readonly kind: 'gather'; readonly id: number }
  | { readonly kind: 'measured'; readonly id: number; readonly snapshot: Snapshot }

export type ToWorker =
  | { readonly kind: 'end' }
  | { readonly kind: 'measure'; readonly id: number }
  | { readonly kind: 'gathered'; readonly id: number; readonly snapshots: readonly Snapshot[] }

/** Matches responses to requests by id, with a time limit; undefined when no response arrives in time. */
interface Pending<T> {
  ask(send: (id: number) => void, limitMs: number): Promise<T | undefined>
  answer(id: number, value: T): void
}

export function createPending<T>(): Pending<T> {
  const waiting = new Map<number, (value: T | undefined) => void>()
  let lastId = 0
  return {
    async ask(send, limitMs) {
      const id = ++lastId
      const { promise, resolve } = Promise.withResolvers<T | undefined>()
      waiting.set(id, resolve)
      const timer = setTimeout(resolve, limitMs, undefined)
      try {
        send(id)
        return await promise
      } finally {
        clearTimeout(timer)
        waiting.delete(id)
      }
    },
    answer: (id, value) => waiting.get(id)?.(value),
  }
}
