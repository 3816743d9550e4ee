/** One service for several tests of a store, until one of them fails: the next begins with another. */
import type { StoreKind } from '../../../src/store/store.ts'
import type { WatchedService } from './service.ts'

export interface Shared extends AsyncDisposable {
  readonly use: (kind: StoreKind, work: (on: WatchedService) => Promise<void>) => Promise<void>
}

export function createShared(start: (kind: StoreKind) => Promise<WatchedService>): Shared {
  const running = new Map<StoreKind, WatchedService>()
  return {
    async use(kind, work) {
      const on = running.get(kind) ?? (await start(kind))
      running.set(kind, on)
      try {
        await work(on)
      } catch (error) {
        running.delete(kind)
        await on[Symbol.asyncDispose]()
        throw error
      }
    },
    async [Symbol.asyncDispose]() {
      for (const on of running.values()) await on[Symbol.asyncDispose]()
    },
  }
}
