/** Listens for notifications of other processes. They only reduce latency: polling finds the same changes. */
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { untilEnded } from './time-limit.ts'
import type { Location } from './location.ts'

export interface Listening extends AsyncDisposable {
  readonly add: (channel: Channel, listener: () => void) => void
}

type Channel = 'smalt_metadata' | 'smalt_events'

const RETRY_MS = 2_000

export function createListening({ config, schema }: Location): Listening {
  const listeners = new Map<Channel, (() => void)[]>()
  const ending = new AbortController()
  let client: pg.Client | undefined
  let isListening = false

  async function listen(): Promise<void> {
    const listening = new pg.Client({ ...config, connectionTimeoutMillis: 5_000, keepAlive: true })
    client = listening
    isListening = false
    // An error also ends the connection, and its end is awaited below.
    listening.on('error', () => undefined)
    listening.on('notification', ({ channel, payload }) => {
      if (payload === schema) for (const listener of listeners.get(channel as Channel) ?? []) listener()
    })
    await listening.connect()
    const ended = once(listening, 'end')
    // If the connection breaks before `ended` is awaited, the queries below fail.
    ended.catch(() => undefined)
    // The iteration includes channels that are added meanwhile.
    for (const channel of listeners.keys()) await listening.query(`listen ${channel}`)
    isListening = true
    await ended
  }

  async function keepListening(): Promise<void> {
    while (!ending.signal.aborted) {
      await listen().catch(() => client?.end().catch(() => undefined))
      await pause(RETRY_MS, undefined, { ref: false, signal: ending.signal }).catch(() => undefined)
    }
  }

  return {
    add(channel, listener) {
      const known = listeners.get(channel)
      if (known) return void known.push(listener)
      listeners.set(channel, [listener])
      if (listeners.size === 1) void keepListening()
      else if (isListening) void client?.query(`listen ${channel}`).catch(() => undefined)
    },
    async [Symbol.asyncDispose]() {
      ending.abort()
      if (client) await untilEnded(client.end().catch(() => undefined))
    },
  }
}
