/** One service for many tests, each with an entity of its own: to open a store takes longer than most of them do. */
import { after } from 'node:test'
import { type TestService, type TestServiceOptions, openTestService } from './service.ts'

export interface Tenant extends TestService {
  /** Nobody else has one of this name. */
  readonly entity: string
}

/** The service is opened for the first who asks, and closed after the last test of the process. */
export function shareService(options: TestServiceOptions = {}): () => Promise<Tenant> {
  let opened: Promise<TestService> | undefined
  let tenants = 0
  after(async () => (await opened)?.[Symbol.asyncDispose]())
  return async () => {
    opened ??= openTestService(options)
    return { ...(await opened), entity: `t${++tenants}`, [Symbol.asyncDispose]: async () => undefined }
  }
}

/** For whoever needs nothing special. */
export const openTenant = shareService()
