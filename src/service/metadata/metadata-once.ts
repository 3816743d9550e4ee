/** Changes of metadata with an idempotency key: the answer is made by a rehearsal, and stored with the change. */
import type { Caller } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Json } from '../../base/json/json.ts'
import type { Limits } from '../../base/limits.ts'
import type { OtherStores } from '../../metadata/other-stores.ts'
import { type MetadataStore, type Registry, openRegistry } from '../../metadata/registry.ts'
import type { Database } from '../../store/database.ts'
import type { MetadataChange } from '../../store/metadata-records.ts'
import { type Idempotency, type OnceAnswer, fitting, earlierAnswer, runOnce } from '../idempotency.ts'
import type { MetadataService, OnceService } from '../service.ts'
import { rehearsing } from './rehearsal.ts'

export interface MetadataOnceDeps {
  readonly store: Database
  readonly others: OtherStores
  /** The registry of the service, which reads metadata again after a change. */
  readonly registry: Registry
  readonly open: (store: MetadataStore, others: OtherStores) => ReturnType<typeof openRegistry>
  readonly serve: (registry: Registry) => MetadataService
  readonly limits: Limits
  readonly now: () => Date
}

export function metadataOnce(deps: MetadataOnceDeps): OnceService['metadata'] {
  return async (caller, idempotency, change) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await attemptOnce(deps, { caller, idempotency, change })
      } catch (error) {
        if (!(error instanceof Outdated)) throw error
        if (attempt === ATTEMPTS) throw busy()
      }
    }
  }
}

/** Another process changes metadata at the same time only rarely. */
const ATTEMPTS = 10

interface OnceChange {
  readonly caller: Caller
  readonly idempotency: Idempotency
  readonly change: (metadata: MetadataService) => Promise<Json>
}

async function attemptOnce(
  deps: MetadataOnceDeps,
  { caller, idempotency, change }: OnceChange,
): Promise<OnceAnswer> {
  const { store, others, registry, limits } = deps
  const keyedRequest = { ...idempotency, caller: caller.principal }
  const first = await earlierAnswer(deps, keyedRequest)
  if (first) return { ...first, isRepeated: true }
  const rehearsal = rehearsing(store.metadata, others)
  const rehearsed = await deps.open(rehearsal.store, rehearsal.others)
  const answer = { status: 200, text: JSON.stringify(await change(deps.serve(rehearsed))) }
  const wanted = rehearsal.wanted()
  if (!wanted) return await runOnce(deps, keyedRequest, async () => answer)
  const nowMs = deps.now().getTime()
  const keyedAnswer = {
    keyed: { ...keyedRequest, nowMs },
    answer: { ...fitting(answer, limits), expiresMs: nowMs + limits.idempotencyTimeMs },
  }
  const keeping: MetadataStore = {
    ...store.metadata,
    changeMetadata(made: MetadataChange) {
      if (made.expectedEpoch !== wanted.expectedEpoch) throw new Outdated()
      return store.metadata.changeMetadata({ ...made, keyedAnswer })
    },
  }
  const own = await deps.open(keeping, others)
  await change(deps.serve(own))
  await registry.reload()
  return { ...answer, isRepeated: false }
}

/** Thrown when metadata has changed since the rehearsal. */
class Outdated extends Error {}

function busy(): ServiceError {
  return new ServiceError('crud:Unavailable', 'metadata is being changed by others; try again in a second')
}
