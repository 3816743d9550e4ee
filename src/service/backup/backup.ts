/** Makes a backup of a store while a service uses it: complete and read back, or no file at all. */
import { randomUUID } from 'node:crypto'
import { access, link, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { maskLocation, parseLocation } from '../../base/location.ts'
import { openStore } from '../../store/open.ts'
import { copyStore } from '../../store/sqlite/transfer/copy.ts'
import { MoveError, asForeseen } from '../move/move-error.ts'
import { entitiesElsewhere } from '../move/move-metadata.ts'
import { refuseAbsent } from '../require-store.ts'
import { openBackup } from './read-backup.ts'
import { type Writing, writeBackup } from './write-backup.ts'

export interface BackupOptions extends Pick<Writing, 'onProgress' | 'signal'> {
  readonly from: string
  readonly file: string
}

export interface Backup {
  readonly file: string
  readonly from: string
  readonly bytes: number
  readonly documents: number
  readonly entities: number
  /** Entities whose metadata is in the backup, but whose documents are in another datasource. */
  readonly elsewhere: readonly string[]
  readonly seconds: number
}

/** Fails with a MoveError, or with an unexpected error. */
export async function makeBackup(options: BackupOptions): Promise<Backup> {
  const { from, file } = options
  const began = performance.now()
  // Beside the file, so that it can be renamed; a process that dies leaves this name only.
  const part = `${file}.${randomUUID()}.part`
  try {
    await refuseExisting(file)
    await requireDirectory(dirname(file))
    await refuseAbsent(from)
    await writeFrom(part, options)
    const made = await readBack(part, options.signal)
    await publish(part, file)
    await syncDirectory(dirname(file))
    return { file, from: maskLocation(from), ...made, seconds: Math.round(performance.now() - began) / 1000 }
  } catch (error) {
    throw asForeseen(asForeseenBackup(error, options))
  } finally {
    await rm(part, { force: true })
    await rm(`${part}.copy`, { recursive: true, force: true })
  }
}

async function writeFrom(part: string, { from, onProgress, signal }: BackupOptions): Promise<void> {
  const parsed = parseLocation(from)
  const writing = {
    made: new Date().toISOString(),
    ...(onProgress && { onProgress }),
    ...(signal && { signal }),
  }
  if (parsed?.kind !== 'sqlite') {
    await using store = await openStore(from)
    // Fails if the store is not filled completely.
    await store.metadata.readMetadata()
    await store.transfer.snapshot((source) => writeBackup(part, source, { ...writing, kind: store.kind }))
    return
  }
  await copyStore(parsed.directory, `${part}.copy`)
  await using copy = await openStore(`sqlite:${part}.copy`)
  await copy.metadata.readMetadata()
  await writeBackup(part, copy.transfer, { ...writing, kind: 'sqlite' })
}

async function readBack(
  part: string,
  signal: AbortSignal | undefined,
): Promise<Pick<Backup, 'bytes' | 'documents' | 'entities' | 'elsewhere'>> {
  await using content = await openBackup(part)
  await content.verify(signal)
  const collections = await content.collections()
  const records = await content.records()
  return {
    bytes: content.bytes,
    documents: collections.reduce((sum, { count }) => sum + count, 0),
    entities: records.entities.length,
    elsewhere: entitiesElsewhere(records),
  }
}

async function refuseExisting(file: string): Promise<void> {
  const isThere = await access(file).then(
    () => true,
    () => false,
  )
  if (isThere) throw existing(file)
}

/** A rename would replace a file that has appeared meanwhile; a link does not, where the file system has links. */
async function publish(part: string, file: string): Promise<void> {
  try {
    await link(part, file)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw existing(file)
    if (!WITHOUT_LINKS.has(code)) throw error
    await refuseExisting(file)
    await rename(part, file)
  }
}

const WITHOUT_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

function existing(file: string): MoveError {
  return new MoveError('conflict', `${file} exists; a backup never replaces a file`)
}

async function requireDirectory(directory: string): Promise<void> {
  await access(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new MoveError('failed', `the directory ${directory} does not exist`)
  })
}

/** A rename is on disk only when its directory is. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(join(directory, '.'), 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function asForeseenBackup(error: unknown, { from, file }: BackupOptions): unknown {
  const { code, message } = error as NodeJS.ErrnoException
  if (message === 'there is no store')
    return new MoveError('unreachable', `there is no store in ${maskLocation(from)}`, error)
  const isOfFile = typeof code === 'string' && /^E[A-Z]+$/.test(code) && message.includes(file)
  // a write that finds no room does not name its file
  if (isOfFile || NO_ROOM.has(code ?? ''))
    return new MoveError('failed', `the backup cannot be written: ${message}`, error)
  if (code === 'ERR_SQLITE_ERROR')
    return new MoveError('failed', `the backup cannot be made: ${message}`, error)
  return error
}

const NO_ROOM: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])
