/** One service for many tests, each with an entity of its own: to open a store takes longer than most of them do. */
import { after } from 'node:test'
import type { StoreKind } from '../../src/store/store.ts'
import { type TestService, type TestServiceOptions, openTestService } from './service.ts'
import { markOpened, storeKind } from './store-kind.ts'

export interface Tenant extends TestService {
  /** Nobody else has one of this name. */
  readonly entity: string
}

/** The service of a kind of store is opened for the first test that needs it, and closed after the last of the file. */
export function shareService(options: TestServiceOptions = {}): () => Promise<Tenant> {
  const opened = new Map<StoreKind, Promise<TestService>>()
  let tenants = 0
  after(async () => {
    for (const each of opened.values()) await (await each)[Symbol.asyncDispose]()
  })
  return async () => {
    const service = opened.get(storeKind()) ?? openTestService(options)
    opened.set(storeKind(), service)
    markOpened(storeKind())
    return { ...(await service), entity: `t${++tenants}`, [Symbol.asyncDispose]: async () => undefined }
  }
}

/** For whoever needs nothing special. */
export const openTenant = shareService()
