/** Loads a backup into an empty store: complete and checked, or not at all. */
import { maskLocation } from '../../base/location.ts'
import { type MovedCollection, carryOut, openTarget } from '../move/move.ts'
import type { Watch } from '../move/copy.ts'
import { MoveError, asForeseen } from '../move/move-error.ts'
import { recordsFor } from '../move/move-metadata.ts'
import { BackupError } from './backup-format.ts'
import { openBackup } from './read-backup.ts'

interface RestoreOptions extends Watch {
  readonly file: string
  readonly to: string
  /** Whether data that an interrupted restore left in the target is removed first. */
  readonly discardsIncomplete?: boolean
}

interface Restored {
  readonly file: string
  readonly to: string
  /** When the backup was begun. */
  readonly made: string
  readonly documents: number
  readonly entities: number
  readonly collections: readonly MovedCollection[]
}

/** Fails with a MoveError, or with an unexpected error. */
export async function restore(options: RestoreOptions): Promise<Restored> {
  try {
    return await restoreOnce(options)
  } catch (error) {
    throw asForeseen(asRestoreError(error, options))
  }
}

async function restoreOnce(options: RestoreOptions): Promise<Restored> {
  const { file, to } = options
  await using content = await openBackup(file)
  // Before the target is opened, so that a damaged backup does not even create an empty store.
  await content.verify(options.signal)
  await using target = await openTarget(to)
  const records = await content.records()
  const plan = {
    source: content,
    target: target.transfer,
    // The same kind of store keeps its other datasources.
    records: content.header.kind === target.kind ? records : recordsFor(target.kind, records),
    collections: await content.collections(),
    shown: maskLocation(to),
  }
  const collections = await carryOut(plan, options)
  return {
    file,
    to: maskLocation(to),
    made: content.header.made,
    documents: collections.reduce((sum, { documents }) => sum + documents, 0),
    entities: records.entities.length,
    collections,
  }
}

function asRestoreError(error: unknown, { file }: RestoreOptions): unknown {
  if (error instanceof BackupError) return new MoveError('failed', `${file}: ${error.message}`, error)
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return new MoveError('location', `there is no file ${file}`, error)
  if (UNREADABLE.has(code ?? ''))
    return new MoveError('location', `${file} cannot be read: ${message}`, error)
  return error
}

const UNREADABLE: ReadonlySet<string> = new Set(['EISDIR', 'EACCES', 'EPERM', 'EIO'])
