/** Threads that work for seconds leave the processor to the one that serves everybody, wherever it wants some. */
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * Lowers the priority of the thread that calls it. Linux has priorities for threads; elsewhere they belong to whole
 * processes, and nothing is changed.
 */
export function lowerThreadPriority(niceness: number): void {
  if (process.platform !== 'linux') return
  try {
    // a link that means another thread to each thread that reads it: 1234/task/1240
    const id = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    if (id > 0 && id !== process.pid) setPriority(id, niceness)
  } catch {
    // without /proc, or where a sandbox forbids it, all threads have the same priority
  }
}
