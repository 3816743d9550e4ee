/**
 * Types for long computations in time slices. The computation is a generator that yields when its slice is over; its
 * runner then lets other requests use the event loop before it resumes.
 */

/** Yields to pause, and returns the result. */
export type Yielding<T> = Generator<undefined, T, void>

/** Whether the time slice is over. Called in every inner loop, so it must be cheap. */
export type ShouldYield = () => boolean
