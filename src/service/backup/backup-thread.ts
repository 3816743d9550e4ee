/** The entry point of a thread that makes one backup, so that compressing it does not delay requests. */
import { parentPort, workerData } from 'node:worker_threads'
import { lowerThreadPriority } from '../../base/work/thread-priority.ts'
import { type BackupOptions, makeBackup } from './backup.ts'

export interface BackupReply {
  readonly made?: Awaited<ReturnType<typeof makeBackup>>
  readonly problem?: string
}

lowerThreadPriority(10)
const { from, file } = workerData as Pick<BackupOptions, 'from' | 'file'>
const reply = await makeBackup({ from, file }).then(
  (made): BackupReply => ({ made }),
  (error: unknown): BackupReply => ({ problem: error instanceof Error ? error.message : String(error) }),
)
parentPort!.postMessage(reply)
