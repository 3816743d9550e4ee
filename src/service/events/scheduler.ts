/**
 * Work on events for readers: a few milliseconds in each turn of the event loop for all of them together, callers in turn.
 * However many followers are behind, other requests wait no longer than one such slice.
 */
import { CallerQueue } from '../../base/work/caller-queue.ts'

/** A part of the work ends at each `yield`. */
export type Work<T> = Generator<void, T>

interface Job {
  readonly caller: string
  /** Whether the work is done. */
  readonly step: () => boolean
}

const SLICE_MS = 3
/** Whoever waits for the result goes on after the slice: those must not be too many at once either. */
const MAX_DONE = 8
/** What takes microseconds need not wait, as long as it is not too much in one turn. */
const MAX_QUICK = 50

export class EventScheduler {
  readonly #jobs = new CallerQueue<Job>()
  #isScheduled = false
  #quick = 0

  /** Whether something that takes microseconds may be done at once; else it has to `run` as any other work. */
  admitsQuick(): boolean {
    return this.#quick++ < MAX_QUICK
  }

  run<T>(caller: string, work: Work<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const step = (): boolean => {
      try {
        const { done, value } = work.next()
        if (done) resolve(value)
        return done === true
      } catch (error) {
        reject(error)
        return true
      }
    }
    this.#jobs.enqueue(caller, { caller, step })
    this.#schedule()
    return promise
  }

  #schedule(): void {
    if (this.#isScheduled || this.#jobs.isEmpty) return
    this.#isScheduled = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#isScheduled = false
    this.#quick = 0
    const end = performance.now() + SLICE_MS
    for (let done = 0; done < MAX_DONE && performance.now() < end;) {
      const job = this.#jobs.dequeue()
      if (!job) return
      if (isDone(job, end)) done++
      else this.#jobs.enqueue(job.caller, job)
    }
    this.#schedule()
  }
}

function isDone({ step }: Job, end: number): boolean {
  while (performance.now() < end) if (step()) return true
  return false
}
