/** A stable sort in time slices: a sort of the engine cannot be interrupted, and a hundred thousand texts take seconds. */

/** Yields when `shouldYield` says so; it is asked before every comparison. */
export function* mergeSort<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  shouldYield: () => boolean,
): Generator<undefined, readonly T[], void> {
  let from = [...items]
  let to = [...items]
  for (let width = 1; width < items.length; width *= 2) {
    for (let start = 0; start < items.length; start += 2 * width) {
      const middle = Math.min(start + width, items.length)
      const end = Math.min(start + 2 * width, items.length)
      let left = start
      let right = middle
      for (let at = start; at < end; at++) {
        if (shouldYield()) yield
        const takesLeft = left < middle && (right >= end || compare(from[left]!, from[right]!) <= 0)
        to[at] = takesLeft ? from[left++]! : from[right++]!
      }
    }
    ;[from, to] = [to, from]
  }
  return from
}
