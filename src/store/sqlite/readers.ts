/** Threads for slow questions: started when first needed, each with a read connection of its own. */
import { Worker } from 'node:worker_threads'
import { ServiceError } from '../../base/errors.ts'
import type { Statement } from '../sql/fragment.ts'
import type { Bounds } from '../store.ts'
import { hungUp, timedOut } from '../giving-up.ts'
import { tooBig } from './failures.ts'
import type { ReaderAnswer, ReaderRequest } from './reader-worker.ts'

export interface Readers extends AsyncDisposable {
  /** Rows in batches, at the pace of whoever asks for them. */
  open<Row>(statement: Statement, bounds: Bounds): Cursor<Row>
}

interface Cursor<Row> extends Disposable {
  /** At most so many rows; fewer means there are no more. */
  next(count: number): Promise<readonly Row[]>
  /** The same for rows that may be large: no more of them than fit into a few megabytes, but one. */
  piece(count: number): Promise<Piece<Row>>
}

interface Piece<Row> {
  readonly rows: readonly Row[]
  readonly isLast: boolean
}

/** About as much is on its way between two threads at a time. */
const PIECE_BYTES = 8 * 1024 * 1024

interface Thread {
  readonly worker: Worker
  readonly waiting: Map<number, PromiseWithResolvers<Piece<unknown>>>
}

export function createReaders(file: string, size: number): Readers {
  const threads = new Map<number, Thread>()
  let cursors = 0

  function threadFor(cursor: number): Thread {
    const slot = cursor % size
    const known = threads.get(slot)
    if (known) return known
    const thread = startThread(file, () => threads.delete(slot))
    threads.set(slot, thread)
    return thread
  }

  return {
    open<Row>(statement: Statement, bounds: Bounds): Cursor<Row> {
      const id = cursors++
      return openCursor<Row>(id, threadFor(id), { statement, bounds })
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...threads.values()].map(({ worker }) => worker.terminate()))
    },
  }
}

function startThread(file: string, onEnd: () => void): Thread {
  const worker = new Worker(new URL(`./reader-worker${extension()}`, import.meta.url), {
    workerData: { file },
  })
  const waiting: Thread['waiting'] = new Map()
  worker.unref()
  worker.on('message', (answer: ReaderAnswer) => {
    const asked = waiting.get(answer.cursor)
    waiting.delete(answer.cursor)
    if (answer.kind === 'rows') asked?.resolve(answer)
    else asked?.reject(answer.isTooBig ? tooBig() : answer.error)
  })
  const fail = (error: unknown): void => {
    onEnd()
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }
  worker.on('error', fail)
  worker.on('exit', () => fail(new Error('a reader thread ended')))
  return { worker, waiting }
}

/** The published package is JavaScript, the repository TypeScript. */
function extension(): string {
  return import.meta.url.endsWith('.ts') ? '.ts' : '.js'
}

function openCursor<Row>(
  cursor: number,
  { worker, waiting }: Thread,
  { statement, bounds }: { readonly statement: Statement; readonly bounds: Bounds },
): Cursor<Row> {
  const cancelled = new Int32Array(new SharedArrayBuffer(4))
  const send = (request: ReaderRequest): void => worker.postMessage(request)
  let ended: ServiceError | undefined
  const end = (reason: ServiceError): void => {
    ended ??= reason
    Atomics.store(cancelled, 0, 1)
    waiting.get(cursor)?.reject(reason)
    waiting.delete(cursor)
  }
  let remainingMs = bounds.timeLimitMs
  const onAbort = (): void => end(hungUp())
  const signal = bounds.hangUp?.()
  signal?.addEventListener('abort', onAbort)
  send({ kind: 'open', cursor, text: statement.text, values: statement.values, cancelled })
  async function ask(count: number, mostBytes?: number): Promise<Piece<Row>> {
    if (signal?.aborted) end(hungUp())
    if (ended) throw ended
    const asked = Promise.withResolvers<Piece<unknown>>()
    waiting.set(cursor, asked)
    send({ kind: 'next', cursor, count, ...(mostBytes !== undefined && { mostBytes }) })
    // Only the time of the search counts, not the time a slow reader takes between two batches.
    const start = performance.now()
    const timer = setTimeout(() => end(timedOut(bounds.timeLimitMs)), Math.max(0, remainingMs))
    try {
      return (await asked.promise) as Piece<Row>
    } finally {
      clearTimeout(timer)
      remainingMs -= performance.now() - start
    }
  }

  return {
    next: async (count) => (await ask(count)).rows,
    piece: (count) => ask(count, PIECE_BYTES),
    [Symbol.dispose]() {
      signal?.removeEventListener('abort', onAbort)
      send({ kind: 'close', cursor })
    },
  }
}
