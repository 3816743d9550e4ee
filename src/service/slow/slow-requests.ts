/** The slow requests of this process: the newest ones, in a ring of fixed size. */
import { type Caller, requirePermission } from '../../access/caller.ts'
import type { JsonObject } from '../../base/json/json.ts'
import type { Limits } from '../../base/limits.ts'
import type { SlowService } from '../service.ts'
import type { SlowRequest } from './slow-request.ts'

export function slowService({ slowRequestMs, slowRequests }: Limits): SlowService {
  const ring = new Ring<SlowRequest>(slowRequests)
  return {
    note: (slow) => ring.add(slow),
    list(caller: Caller): JsonObject {
      requirePermission(caller, 'requests.inspect')
      // they name entities and fields
      requirePermission(caller, 'metadata.find')
      return {
        overMs: slowRequestMs,
        kept: slowRequests,
        requests: ring.newestFirst().map((each) => ({ ...each })),
      }
    },
  }
}

/** Adding costs the same however many elements there are; the oldest element is replaced. */
export class Ring<T> {
  readonly #size: number
  readonly #elements: T[] = []
  #next = 0

  constructor(size: number) {
    this.#size = size
  }

  add(element: T): void {
    this.#elements[this.#next] = element
    this.#next = (this.#next + 1) % this.#size
  }

  newestFirst(): readonly T[] {
    return [...this.#elements.slice(this.#next), ...this.#elements.slice(0, this.#next)].toReversed()
  }
}
