/**
 * Schedules work on events: a few milliseconds in each turn of the event loop for all readers together, with
 * round-robin between callers. However many followers are behind, other requests wait no longer than one such
 * slice.
 */
import { CallerQueue } from '../../base/work/caller-queue.ts'

/** Work is interruptible at each `yield`. */
export type Work<T> = Generator<void, T>

interface Job {
  readonly caller: string
  /** Runs one step; returns whether the work is done. */
  readonly step: () => boolean
}

const SLICE_MS = 3
/** Consumers of finished jobs continue right after the slice, so their number per turn is limited too. */
const MAX_DONE = 8
/** Work of a few microseconds runs immediately, up to this many times per turn. */
const MAX_QUICK = 50

export class EventScheduler {
  readonly #jobs = new CallerQueue<Job>()
  #isScheduled = false
  #quick = 0

  /** Whether work of a few microseconds may run immediately; otherwise it has to be scheduled with `run`. */
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
    setImmediate(() => this.#runSlice())
  }

  #runSlice(): void {
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
