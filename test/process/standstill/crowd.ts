/** What crowds of callers do, and what they do it to: large documents, slow ones, sockets by the hundred. */
import { statSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { directoryOf } from '../../support/store-kind.ts'
import type { Outcome } from './client.ts'
import { pause } from './observe.ts'
import { ID, INTEGERS, STRING, times } from './row.ts'
import type { WatchedService } from './service.ts'

/** 40 documents of 1 MB: all of them are an answer just below the limit. */
export const defineBig = onceFor(async (on) => {
  await on.define('big', { text: STRING })
  await on.store(
    'big',
    times(40, (i) => ({ _id: `b${i}`, text: String.fromCharCode(97 + (i % 26)).repeat(1_000_000) })),
  )
})

/** Arrays that take seconds to be held against each other, and documents that no index finds. */
export const defineSlow = onceFor(async (on) => {
  await on.define('slow', { a: INTEGERS, b: INTEGERS })
  const evens = times(6_000, (i) => 2 * i)
  await on.store(
    'slow',
    times(8, () => ({ a: evens, b: evens.map((each) => each + 1) })),
  )
  await on.define('plain', { s: STRING })
  await on.store(
    'plain',
    times(6_000, (i) => ({ _id: `p${i}`, s: `${'ab'.repeat(50)}${i}` })),
  )
})

/** A find of another caller that has to look at every document. */
export function unindexed(on: Pick<WatchedService, 'ask'>, caller = 'other'): Promise<Outcome> {
  const body = { query: { field: 's', regex: 'b77$' }, projection: ID }
  return on.ask('POST', '/data/find/plain', { body, caller })
}

/** For work whose answers nobody waits for. */
export function endAll(sockets: readonly Socket[]): readonly Outcome[] {
  for (const socket of sockets) socket.destroy()
  return []
}

export function walMb({ location }: WatchedService): number {
  return sizeMb(join(directoryOf(location), 'smalt.db-wal'))
}

export function sizeMb(file: string): number {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) / 1_000_000
}

export async function until(isDone: () => boolean | Promise<boolean>, withinMs: number): Promise<boolean> {
  for (const end = Date.now() + withinMs; Date.now() < end; await pause(50)) if (await isDone()) return true
  return false
}

/** Once for each service. */
function onceFor(prepare: (on: WatchedService) => Promise<void>): (on: WatchedService) => Promise<void> {
  const done = new WeakMap<WatchedService, Promise<void>>()
  return (on) => {
    const known = done.get(on) ?? prepare(on)
    done.set(on, known)
    return known
  }
}
