/** `smalt backup` and `smalt restore`, with progress and a summary. */
import { makeBackup } from '../../service/backup/backup.ts'
import { restore } from '../../service/backup/restore.ts'
import { MoveError } from '../../service/move/move-error.ts'
import type { Config } from '../config/config.ts'
import { Exit } from '../exit.ts'
import { usageError } from '../usage-error.ts'
import { MOVE_EXITS, abortedBySignals } from './move.ts'
import { createProgress } from './progress.ts'

interface BackupFlags {
  readonly json?: boolean
}

export async function runBackup(
  words: readonly string[],
  { datasources }: Pick<Config, 'datasources'>,
  { json = false }: BackupFlags,
): Promise<void> {
  const file = fileFrom(words, 'backup')
  const progress = createProgress(process.stderr)
  const made = await reported(progress, () =>
    makeBackup({
      from: datasources[0]!.location,
      file,
      onProgress: (each) => progress.show({ phase: 'copying', ...each }),
      signal: abortedBySignals('interrupted; no file was made'),
    }),
  )
  const { documents, entities, elsewhere, bytes, from, seconds } = made
  const what = `${documents.toLocaleString('en')} documents of ${entities} entities`
  process.stdout.write(
    json
      ? `${JSON.stringify(made)}\n`
      : `backed up and read back ${what} from ${from} to ${file} (${bytes.toLocaleString('en')} bytes) in ${seconds} s\n`,
  )
  if (elsewhere.length > 0)
    process.stderr.write(
      `the documents of these entities are in other datasources, which are not part of this backup: ${elsewhere.join(', ')}; ` +
        'back up each datasource with --store LOCATION, too\n',
    )
}

interface RestoreFlags extends BackupFlags {
  readonly restart?: boolean
}

export async function runRestore(
  words: readonly string[],
  { datasources }: Pick<Config, 'datasources'>,
  { json = false, restart = false }: RestoreFlags,
): Promise<void> {
  const file = fileFrom(words, 'restore')
  const progress = createProgress(process.stderr)
  const restored = await reported(progress, () =>
    restore({
      file,
      to: datasources[0]!.location,
      discardsIncomplete: restart,
      onProgress: (each) => progress.show(each),
      signal: abortedBySignals('interrupted; nothing was restored'),
    }),
  )
  const { documents, entities, to, made } = restored
  const what = `${documents.toLocaleString('en')} documents of ${entities} entities`
  process.stdout.write(
    json ? `${JSON.stringify(restored)}\n` : `restored and checked ${what}, as of ${made}, into ${to}\n`,
  )
}

async function reported<T>(progress: { readonly end: () => void }, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof MoveError ? new Exit(MOVE_EXITS[error.reason], error.message) : error
  } finally {
    progress.end()
  }
}

function fileFrom(words: readonly string[], command: string): string {
  const [file, ...others] = words
  if (file !== undefined && file !== '' && others.length === 0) return file
  throw usageError(`${command} needs the name of one file, such as monday.jsonl.gz`)
}
