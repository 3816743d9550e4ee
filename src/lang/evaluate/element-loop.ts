/** Follows the elements of an array while a loop visits them and its action inserts and removes others. */
import type { Json } from '../../base/json/json.ts'

/** Above this many, values are not spread into one call, because the number of arguments is limited. */
const MAX_ARGUMENTS = 1_000

/** The loops that are going on in one document. */
export type Loops = Map<readonly Json[], ElementLoop[]>

/** Visits the elements that the array has now, in order; those that are removed before their turn are left out. */
export class ElementLoop {
  /**
   * Whether each element from `#start` on is to be visited. It changes where the array changes, so that an insertion or
   * removal takes as long here as there.
   */
  readonly #toVisit: boolean[]
  #start: number
  /** Of the current element; once that is removed, of the element before it. */
  #index: number
  #isGone = false

  /** `current`: the element to begin at; without one, the loop begins before the first. */
  constructor(length: number, current = -1) {
    this.#index = current
    this.#start = current + 1
    this.#toVisit = Array.from({ length: length - this.#start }, () => true)
  }

  /** Where the current element is now; undefined once it has been removed. */
  get index(): number | undefined {
    return this.#isGone ? undefined : this.#index
  }

  /** Goes to the next element; false if there is none. */
  advance(): boolean {
    while (++this.#index - this.#start < this.#toVisit.length) {
      if (!this.#toVisit[this.#index - this.#start]) continue
      this.#isGone = false
      return true
    }
    return false
  }

  inserted(at: number, count: number): void {
    if (at <= this.#index) {
      this.#index += count
      this.#start += count
      return
    }
    const place = at - this.#start
    // What is added behind all elements does not have to be passed over.
    if (place >= this.#toVisit.length) return
    if (count <= MAX_ARGUMENTS) {
      this.#toVisit.splice(place, 0, ...Array.from({ length: count }, () => false))
      return
    }
    const behind = this.#toVisit.splice(place)
    for (let added = 0; added < count; added++) this.#toVisit.push(false)
    for (const each of behind) this.#toVisit.push(each)
  }

  removed(at: number): void {
    if (at > this.#index) {
      this.#toVisit.splice(at - this.#start, 1)
      return
    }
    if (at === this.#index) this.#isGone = true
    this.#index--
    this.#start--
  }
}
