/** Moves all data of a store into another, empty store: complete and checked, or not at all. */
import { maskLocation } from '../../base/location.ts'
import { ObstacleError } from '../../store/transfer.ts'
import { openStore } from '../../store/open.ts'
import { LocationError } from '../../store/postgres/connection/location.ts'
import { isDiskFull } from '../../store/sqlite/file/failures.ts'
import type { Database } from '../../store/database.ts'
import { checkRest } from './check.ts'
import { type Plan, type Watch, checkDocuments, copyDocuments, copyRest } from './copy.ts'
import { MoveError, asForeseen, beneath, inTheWay, messageOf } from './move-error.ts'
import { recordsFor } from './move-metadata.ts'
import { refuseAbsent } from '../require-store.ts'

interface MoveOptions extends Watch {
  readonly from: string
  readonly to: string
  /** Counts, and checks for obstacles, without copying. */
  readonly isRehearsal?: boolean
  /** Whether data that an interrupted move left in the target is removed first. */
  readonly discardsIncomplete?: boolean
}

export interface Moved {
  readonly from: string
  readonly to: string
  readonly collections: readonly MovedCollection[]
  readonly documents: number
  readonly entities: number
  readonly versions: number
  readonly sequences: number
}

export interface MovedCollection {
  readonly name: string
  readonly entity: string
  readonly documents: number
  /** Checksum of ids, versions and texts, independent of order; absent if nothing was copied. */
  readonly checksum?: string
}

/** Fails with a MoveError, or with an unexpected error. */
export async function move(options: MoveOptions): Promise<Moved> {
  try {
    return await moveOnce(options)
  } catch (error) {
    throw asForeseen(error)
  }
}

async function moveOnce(options: MoveOptions): Promise<Moved> {
  const { from, to, isRehearsal = false } = options
  await using opened = new AsyncDisposableStack()
  await refuseAbsent(from).catch((error: unknown) => Promise.reject(cannotOpen(from, error)))
  const source = opened.use(await openTarget(from))
  const target = opened.use(await openTarget(to))
  const plan = await planned(source, target, options)
  const done = isRehearsal ? await rehearse(plan, options) : await carryOut(plan, options)
  const { entities, schemas } = plan.records
  return {
    from: maskLocation(from),
    to: maskLocation(to),
    collections: done,
    documents: done.reduce((sum, { documents }) => sum + documents, 0),
    entities: entities.length,
    versions: schemas.length,
    sequences: (await source.transfer.sequences()).length,
  }
}

export async function openTarget(location: string): Promise<Database> {
  try {
    const store = await openStore(location)
    return await store.ping().then(
      () => store,
      async (error: unknown) => {
        await store[Symbol.asyncDispose]()
        throw error
      },
    )
  } catch (error) {
    throw cannotOpen(location, error)
  }
}

function cannotOpen(location: string, error: unknown): MoveError {
  const { message, code } = error as NodeJS.ErrnoException
  if (code === 'SMALT_LOCKED') return new MoveError('conflict', message)
  const reason = error instanceof LocationError ? 'location' : isDiskFull(error) ? 'failed' : 'unreachable'
  const shown = `the data in ${maskLocation(location)} cannot be opened`
  return new MoveError(reason, `${shown}: ${message}${beneath(error)}`, error)
}

/** Refuses a source that cannot be moved, before anything is written. */
async function planned(source: Database, target: Database, { from, to }: MoveOptions): Promise<Plan> {
  // Also fails if the source itself is the result of an interrupted move.
  await source.metadata.readMetadata()
  const records = recordsFor(target.kind, await source.transfer.records())
  const collections = await source.transfer.collections()
  if (collections.length === 0 && records.entities.length === 0) {
    throw new MoveError('location', `nothing is stored in ${maskLocation(from)}`)
  }
  return { source: source.transfer, target: target.transfer, records, collections, shown: maskLocation(to) }
}

async function rehearse(
  { target, collections, shown }: Plan,
  options: MoveOptions,
): Promise<readonly MovedCollection[]> {
  const obstacle = await target.obstacle()
  if (obstacle && !(obstacle === 'unfinished' && options.discardsIncomplete === true)) {
    throw inTheWay(obstacle, shown)
  }
  return collections.map(({ collection: { name, entity }, count }) => ({ name, entity, documents: count }))
}

export async function carryOut(
  plan: Plan,
  options: Watch & Pick<MoveOptions, 'discardsIncomplete'>,
): Promise<readonly MovedCollection[]> {
  const { target, shown } = plan
  const discardsIncomplete = options.discardsIncomplete ?? false
  await using storeImport = await target.beginImport({ discardsIncomplete }).catch((error: unknown) => {
    throw error instanceof ObstacleError ? inTheWay(error.obstacle, shown) : error
  })
  try {
    const copied = await copyDocuments(plan, storeImport, options)
    await copyRest(plan, storeImport)
    await checkDocuments(plan, copied, options)
    await checkRest(plan)
    options.signal?.throwIfAborted()
    await storeImport.finish()
    return plan.collections.map(({ collection: { name, entity } }, i) => ({
      name,
      entity,
      documents: copied[i]!.documents(),
      checksum: copied[i]!.checksum(),
    }))
  } catch (error) {
    await storeImport.clear().catch((cause: unknown) => {
      const foreseen = asForeseen(error)
      const reason = foreseen instanceof MoveError ? foreseen.reason : 'failed'
      throw new MoveError(reason, `${messageOf(error)}; and ${shown} could not be cleared again`, cause)
    })
    throw error
  }
}
