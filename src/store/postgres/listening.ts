/** Hears of metadata changes that other processes made. It only hastens what asking for the epoch finds out anyway. */
import pg from 'pg'
import type { Location } from './location.ts'
import { CHANNEL } from './metadata.ts'

export interface Listening extends AsyncDisposable {
  readonly add: (listener: () => void) => void
}

const RETRY_MS = 2_000

export function createListening({ config, schema }: Location): Listening {
  const listeners: (() => void)[] = []
  let client: pg.Client | undefined
  let retry: NodeJS.Timeout | undefined
  let isOver = false

  async function connect(): Promise<void> {
    const connecting = new pg.Client(config)
    client = connecting
    connecting.on('error', () => undefined)
    connecting.on('end', again)
    connecting.on('notification', ({ payload }) => {
      if (payload === schema) for (const listener of listeners) listener()
    })
    await connecting.connect()
    await connecting.query(`listen ${CHANNEL}`)
  }

  function again(): void {
    if (isOver) return
    retry = setTimeout(start, RETRY_MS)
    retry.unref()
  }

  function start(): void {
    // What goes wrong also ends the connection, and that is when it is tried again.
    void connect().catch(() => client?.end().catch(() => undefined))
  }

  return {
    add(listener) {
      listeners.push(listener)
      if (listeners.length === 1) start()
    },
    async [Symbol.asyncDispose]() {
      isOver = true
      clearTimeout(retry)
      await client?.end().catch(() => undefined)
    },
  }
}
