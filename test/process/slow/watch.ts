/** Watches reader threads, which do everything all the same, and the event loop. */
import { mock } from 'node:test'
import { Worker } from 'node:worker_threads'

export interface Watch extends Disposable {
  /** How many cursors were opened, asked for rows, and closed. */
  readonly asked: { open: number; next: number; close: number }
  /** Threads with a cursor that was opened since the beginning, and is not closed yet. */
  readonly reading: ReadonlySet<Worker>
}

export function watchReaders(): Watch {
  const asked = { open: 0, next: 0, close: 0 }
  const reading = new Set<Worker>()
  // eslint-disable-next-line typescript/unbound-method -- called with the worker it was called on
  const { postMessage } = Worker.prototype
  const spy = mock.method(Worker.prototype, 'postMessage', function (this: Worker, message: unknown) {
    const { kind } = message as { kind: keyof typeof asked }
    if (kind in asked) asked[kind]++
    if (kind === 'open') reading.add(this)
    // a read that began before may end now
    if (kind === 'close') reading.delete(this)
    postMessage.call(this, message)
  })
  return { asked, reading, [Symbol.dispose]: () => spy.mock.restore() }
}

/** How often the event loop turned until the work was done. */
export async function turnsDuring<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly turns: number }> {
  let turns = 0
  let isDone = false
  const turn = (): void => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  const result = await work()
  isDone = true
  return { result, turns }
}

/** Waits for something that must come about. */
export async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE_MS
  while (!holds()) {
    if (performance.now() > end) throw new Error(`waited in vain for ${String(holds)}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

/** Far longer than it takes on a busy machine. */
const PATIENCE_MS = 60_000
