/** A binary min-heap. */

interface Heap<T> {
  push(value: T): void
  peek(): T | undefined
  pop(): T | undefined
}

export function createHeap<T>(isLess: (a: T, b: T) => boolean): Heap<T> {
  const values: T[] = []

  function swap(i: number, j: number): void {
    const kept = values[i]!
    values[i] = values[j]!
    values[j] = kept
  }

  function rise(from: number): void {
    for (let i = from; i > 0;) {
      const parent = (i - 1) >> 1
      if (!isLess(values[i]!, values[parent]!)) return
      swap(i, parent)
      i = parent
    }
  }

  function sink(): void {
    for (let i = 0; ;) {
      const [left, right] = [2 * i + 1, 2 * i + 2]
      let least = i
      if (left < values.length && isLess(values[left]!, values[least]!)) least = left
      if (right < values.length && isLess(values[right]!, values[least]!)) least = right
      if (least === i) return
      swap(i, least)
      i = least
    }
  }

  return {
    push(value) {
      values.push(value)
      rise(values.length - 1)
    },
    peek: () => values[0],
    pop() {
      const [first] = values
      const last = values.pop()
      if (values.length > 0) {
        values[0] = last!
        sink()
      }
      return first
    },
  }
}
