/** The threads of the readers: those that are idle are used again, and terminated after a while. */
import { Worker } from 'node:worker_threads'
import { workerFile } from '../../../base/work/worker-file.ts'
import { tooBig } from '../file/failures.ts'
import type { ReaderAnswer, ReaderData, ReaderRequest } from './reader-worker.ts'

export interface Threads {
  readonly areClosed: boolean
  take(): Thread
  giveBack(thread: Thread): void
  end(): Promise<void>
}

export type Rows = ReaderAnswer & { readonly kind: 'rows' }

/** A thread that is idle for this long is terminated to free its memory. */
const IDLE_MS = 10_000

/** Rows are garbage as soon as they are sent; V8 would let several times as much of it pile up in each thread. */
const MAX_YOUNG_MB = 16

export function createThreads(data: ReaderData): Threads {
  const all = new Set<Thread>()
  /** Idle threads, each with the timer that will terminate it. */
  const idle = new Map<Thread, NodeJS.Timeout>()
  let areClosed = false
  return {
    get areClosed() {
      return areClosed
    },
    take() {
      // The most recently used thread, so that surplus threads stay idle and time out.
      const known = [...idle.keys()].at(-1)
      if (known) {
        clearTimeout(idle.get(known))
        idle.delete(known)
        return known
      }
      const thread = new Thread(data, () => {
        clearTimeout(idle.get(thread))
        idle.delete(thread)
        all.delete(thread)
      })
      all.add(thread)
      return thread
    },
    giveBack(thread) {
      if (thread.hasEnded) return
      const end = (): void => {
        idle.delete(thread)
        void thread.end()
      }
      idle.set(thread, setTimeout(end, IDLE_MS).unref())
    },
    async end() {
      areClosed = true
      idle.forEach((timer) => clearTimeout(timer))
      await Promise.all([...all].map((thread) => thread.end()))
    },
  }
}

export class Thread {
  hasEnded = false
  readonly #worker: Worker
  readonly #onEnd: () => void
  #pending: PromiseWithResolvers<Rows> | undefined

  constructor(data: ReaderData, onEnd: () => void) {
    this.#onEnd = onEnd
    this.#worker = new Worker(workerFile('reader-worker', import.meta.url), {
      workerData: data,
      resourceLimits: { maxYoungGenerationSizeMb: MAX_YOUNG_MB },
    })
    this.#worker.unref()
    this.#worker.on('message', (answer: ReaderAnswer) => {
      const pending = this.#pending
      this.#pending = undefined
      if (answer.kind === 'rows') pending?.resolve(answer)
      else pending?.reject(answer.isTooBig ? tooBig() : answer.error)
    })
    this.#worker.on('error', (error) => this.#fail(error))
    this.#worker.on('exit', () => this.#fail(new Error('a reader thread ended')))
  }

  send(request: ReaderRequest): void {
    this.#worker.postMessage(request)
  }

  /** Only one request at a time. */
  query(request: ReaderRequest): Promise<Rows> {
    if (this.hasEnded) return Promise.reject(new Error('a reader thread ended'))
    const pending = Promise.withResolvers<Rows>()
    this.#pending = pending
    this.send(request)
    return pending.promise
  }

  /** Nothing may use the thread from now on, although its worker exits a moment later. */
  async end(): Promise<void> {
    this.hasEnded = true
    await this.#worker.terminate()
  }

  #fail(error: unknown): void {
    this.hasEnded = true
    this.#onEnd()
    this.#pending?.reject(error)
    this.#pending = undefined
  }
}
