/** Lowers the priority of threads with long work, so that they do not take the processor from the main thread. */
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * Lowers the priority of the calling thread. Does nothing except on Linux: on other systems a priority belongs to the
 * whole process.
 */
export function lowerThreadPriority(niceness: number): void {
  if (process.platform !== 'linux') return
  try {
    // for each thread this is a link to its own entry, such as 1234/task/1240
    const id = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    if (id > 0 && id !== process.pid) setPriority(id, niceness)
  } catch {
    // without /proc, or when a sandbox forbids it, the priority stays as it is
  }
}
