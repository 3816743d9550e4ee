/** Backups that the service makes itself: on request, and on a schedule with retention. */
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { requirePermission } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import { workerFile } from '../../base/work/worker-file.ts'
import type { Database } from '../../store/database.ts'
import type { BackupService } from '../service.ts'
import type { Backup } from './backup.ts'
import { startSchedule } from './backup-schedule.ts'
import type { BackupReply } from './backup-thread.ts'

export interface BackupSettings {
  readonly directory: string
  /** Absent: only on request. */
  readonly everyMs?: number
  /** How often it is looked whether a backup is due; absent: every 30 s. */
  readonly lookEveryMs?: number
  /** How many backups of each datasource are kept. */
  readonly keep: number
}

interface Datasource {
  readonly name: string
  readonly location: string
}

interface BackupDeps {
  readonly settings: BackupSettings | undefined
  readonly datasources: readonly Datasource[]
  readonly store: Pick<Database, 'locks'>
  readonly now: () => Date
  readonly onInternalError: (error: unknown) => void
}

export function backupService(deps: BackupDeps): BackupService & AsyncDisposable {
  const { settings, store, datasources, onInternalError } = deps
  let running: Promise<readonly Backup[]> | undefined
  const make = async (wanted: readonly Datasource[]): Promise<readonly Backup[]> => {
    if (running)
      throw new ServiceError('crud:Unavailable', 'a backup is being made; ask again when it is done')
    running = makeAll(wanted, deps, settings!)
    try {
      return await running
    } finally {
      running = undefined
    }
  }
  const schedule =
    settings?.everyMs === undefined
      ? undefined
      : startSchedule({
          datasources,
          locks: store.locks,
          everyMs: settings.everyMs,
          ...(settings.lookEveryMs !== undefined && { lookEveryMs: settings.lookEveryMs }),
          onInternalError,
          // one that is running was requested, so it is of all datasources
          make: (datasource) => running ?? make([datasource]),
        })
  return {
    async make(caller) {
      requirePermission(caller, 'backup.make')
      if (!settings) {
        const message = 'there is no place for backups: set backup.directory in the configuration'
        throw new ServiceError('crud:InvalidRequest', message)
      }
      return { backups: (await make(datasources)).map(reported) }
    },
    async [Symbol.asyncDispose]() {
      await schedule?.[Symbol.asyncDispose]()
      await running?.catch(() => undefined)
    },
  }
}

/** Nothing is elsewhere, because every datasource is backed up. */
function reported(made: Backup): Omit<Backup, 'elsewhere'> {
  const { elsewhere: _, ...rest } = made
  return rest
}

/** Each datasource has a file of its own, of its own moment. */
async function makeAll(
  datasources: readonly Datasource[],
  { now }: Pick<BackupDeps, 'now'>,
  settings: BackupSettings,
): Promise<readonly Backup[]> {
  const { directory } = settings
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const stamp = now().toISOString().replaceAll(/[-:.]/g, '')
  const made: Backup[] = []
  for (const { name, location } of datasources) {
    made.push(await inThread({ from: location, file: join(directory, `smalt-${stamp}-${name}${ENDING}`) }))
    await removeOld(name, settings)
  }
  return made
}

const ENDING = '.jsonl.gz'
const DAY_MS = 86_400_000

function inThread(workerData: { readonly from: string; readonly file: string }): Promise<Backup> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(workerFile('backup-thread', import.meta.url), { workerData })
    worker.once('message', ({ made, problem }: BackupReply) => {
      if (made) resolve(made)
      else reject(new ServiceError('crud:Unavailable', `the backup was not made: ${problem}`))
    })
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('the thread of a backup ended by itself')))
  })
}

/** Only files that this service has named; and what a process that died has left. */
async function removeOld(name: string, { directory, keep }: BackupSettings): Promise<void> {
  const files = await readdir(directory)
  const own = files.filter((file) => isBackup(file, name)).sort()
  for (const file of own.slice(0, -keep)) await rm(join(directory, file), { force: true })
  for (const file of files.filter((each) => LEFTOVER.test(each))) {
    const path = join(directory, file)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }))
    if (Date.now() - mtimeMs > DAY_MS) await rm(path, { recursive: true, force: true })
  }
}

const LEFTOVER = /^smalt-\d{8}T\d{9}Z-[\w-]+\.jsonl\.gz\.[0-9a-f-]{36}\.part(\.copy)?$/

function isBackup(file: string, name: string): boolean {
  return (
    file.endsWith(`-${name}${ENDING}`) &&
    /^smalt-\d{8}T\d{9}Z$/.test(file.slice(0, -name.length - 1 - ENDING.length))
  )
}
