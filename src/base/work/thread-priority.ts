/** Lowers the priority of threads with long work, so that they do not take the processor from the main thread. */
import { existsSync, readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * Lowers the priority of the calling thread. Does nothing except on Linux: on other systems a priority belongs to the
 * whole process. Returns the id of the thread, with which another thread can lower it further.
 */
export function lowerThreadPriority(niceness: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    // for each thread this is a link to its own entry, such as 1234/task/1240
    const id = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    if (!(id > 0) || id === process.pid) return undefined
    setPriority(id, niceness)
    return id
  } catch {
    // without /proc, or when a sandbox forbids it, the priority stays as it is
    return undefined
  }
}

/** Lowers the priority of another thread of this process, if it still runs. Most systems do not allow to raise it again. */
export function lowerPriorityOf(id: number, niceness: number): void {
  try {
    if (existsSync(`/proc/self/task/${id}`)) setPriority(id, niceness)
  } catch {
    // the thread has ended meanwhile, or a sandbox forbids it
  }
}
