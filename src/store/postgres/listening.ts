/** Hears of metadata changes that other processes made. It only hastens what asking for the epoch finds out anyway. */
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { patiently } from './bounded.ts'
import type { Location } from './location.ts'
import { CHANNEL } from './metadata.ts'

interface Listening extends AsyncDisposable {
  readonly add: (listener: () => void) => void
}

const RETRY_MS = 2_000

export function createListening({ config, schema }: Location): Listening {
  const listeners: (() => void)[] = []
  const ending = new AbortController()
  let client: pg.Client | undefined

  async function listen(): Promise<void> {
    const listening = new pg.Client({ ...config, connectionTimeoutMillis: 5_000, keepAlive: true })
    client = listening
    // What breaks ends the connection too, and that is what is waited for.
    listening.on('error', () => undefined)
    listening.on('notification', ({ payload }) => {
      if (payload === schema) for (const listener of listeners) listener()
    })
    await listening.connect()
    const ended = once(listening, 'end')
    await listening.query(`listen ${CHANNEL}`)
    await ended
  }

  async function keepListening(): Promise<void> {
    while (!ending.signal.aborted) {
      await listen().catch(() => client?.end().catch(() => undefined))
      await pause(RETRY_MS, undefined, { ref: false, signal: ending.signal }).catch(() => undefined)
    }
  }

  return {
    add(listener) {
      listeners.push(listener)
      if (listeners.length === 1) void keepListening()
    },
    async [Symbol.asyncDispose]() {
      ending.abort()
      if (client) await patiently(client.end().catch(() => undefined))
    },
  }
}
