/** Work in memory that takes its time: it pauses by itself, so that whoever runs it can let others have their turn. */

/** Yields where it pauses; gives its result in the end. */
export type Yielding<T> = Generator<undefined, T, void>

/** Whether it is time to pause. */
export type ShouldYield = () => boolean
