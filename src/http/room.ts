/** Waiting for those who read slower than is written to them, though not for ever. */
import type { ServerResponse } from 'node:http'

export function isOver({ destroyed, writableEnded }: ServerResponse): boolean {
  return destroyed || writableEnded
}

/** Whether there was room again before patience ended; where nobody is left, none is needed. */
export function drained(response: ServerResponse, patienceMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (isDrained: boolean): void => {
      clearTimeout(timer)
      response.off('drain', onRoom).off('close', onRoom)
      resolve(isDrained)
    }
    const onRoom = (): void => done(true)
    const timer = setTimeout(() => done(false), patienceMs)
    response.on('drain', onRoom).on('close', onRoom)
  })
}
