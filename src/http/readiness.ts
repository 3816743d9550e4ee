/** Caches the readiness of the service for a second, so that frequent readiness requests cause no load on the stores. */
import type { Service } from '../service/service.ts'
import type { Readiness } from './routes/route.ts'

export function cachedReadiness(service: Service): () => Promise<Readiness> {
  let last: Promise<Readiness> | undefined
  let readAt = 0
  return () => {
    const now = performance.now()
    if (last === undefined || now - readAt > FRESH_MS) {
      readAt = now
      last = readinessOf(service)
    }
    return last
  }
}

const FRESH_MS = 1_000

async function readinessOf(service: Service): Promise<Readiness> {
  try {
    await service.ready()
    return { isReady: true, reason: '' }
  } catch (error) {
    return { isReady: false, reason: error instanceof Error ? error.message : 'unknown' }
  }
}
