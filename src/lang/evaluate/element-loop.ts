/** Follows the elements of an array while a loop visits them and its action inserts and removes others. */
import type { Json } from '../../base/json/json.ts'

/** Above this many, values are not spread into one call, because the number of arguments is limited. */
const MAX_ARGUMENTS = 1_000

/** The loops that are going on in one document. */
export type Loops = Map<readonly Json[], ElementLoop[]>

/** Visits the elements that the array has now, in order; those that are removed before their turn are left out. */
export class ElementLoop {
  /** Whether each element behind the current one is to be visited. The next one is last, so that advancing is cheap. */
  readonly #ahead: boolean[]
  /** Of the current element; once that is removed, of the element before it. */
  #index: number
  #isGone = false

  /** `current`: the element to begin at; without one, the loop begins before the first. */
  constructor(length: number, current = -1) {
    this.#index = current
    this.#ahead = Array.from({ length: length - current - 1 }, () => true)
  }

  /** Where the current element is now; undefined once it has been removed. */
  get index(): number | undefined {
    return this.#isGone ? undefined : this.#index
  }

  /** Goes to the next element; false if there is none. */
  advance(): boolean {
    while (this.#ahead.length > 0) {
      this.#index++
      if (!this.#ahead.pop()) continue
      this.#isGone = false
      return true
    }
    return false
  }

  inserted(at: number, count: number): void {
    if (at <= this.#index) {
      this.#index += count
      return
    }
    const left = this.#ahead.length - (at - this.#index - 1)
    // What is added behind all elements does not have to be passed over.
    if (left <= 0) return
    for (let added = 0; added < count; added += MAX_ARGUMENTS) {
      const passedOver = Array.from({ length: Math.min(MAX_ARGUMENTS, count - added) }, () => false)
      this.#ahead.splice(left, 0, ...passedOver)
    }
  }

  removed(at: number): void {
    if (at > this.#index) {
      const place = this.#ahead.length - (at - this.#index)
      if (place >= 0) this.#ahead.splice(place, 1)
      return
    }
    if (at === this.#index) this.#isGone = true
    this.#index--
  }
}
