/**
 * Another caller, in a thread of its own: what the greedy one receives in this process must not delay the measuring. It
 * is asked by a message, and answers with the outcomes of its finds.
 */
import { once } from 'node:events'
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'
import { type Outcome, createClient } from './client.ts'
import { unindexed } from './crowd.ts'
import { askNeighbour } from './observe.ts'

export interface Measured {
  readonly indexed: readonly Outcome[]
  readonly unindexed: readonly Outcome[]
}

export interface OtherCaller extends AsyncDisposable {
  readonly measure: () => Promise<Measured>
}

export const FINDS = { indexed: 300, unindexed: 5 }
/** A service that stands still is not asked all of it. */
const PATIENCE_MS = 40_000

export function startOtherCaller(port: number): OtherCaller {
  const thread = new Worker(new URL(import.meta.url), { workerData: { port } })
  return {
    async measure() {
      thread.postMessage('measure')
      const [measured] = await once(thread, 'message')
      return measured as Measured
    },
    async [Symbol.asyncDispose]() {
      await thread.terminate()
    },
  }
}

if (!isMainThread && typeof workerData?.port === 'number') {
  const client = createClient(workerData.port)
  parentPort!.on('message', () => void measure(client).then((measured) => parentPort!.postMessage(measured)))
}

async function measure(client: Pick<ReturnType<typeof createClient>, 'ask'>): Promise<Measured> {
  const end = Date.now() + PATIENCE_MS
  const [indexed, others]: [Outcome[], Outcome[]] = [[], []]
  const quick = async (): Promise<void> => {
    for (let i = 0; i < FINDS.indexed && Date.now() < end; i++) indexed.push(await askNeighbour(client, i))
  }
  const slow = async (): Promise<void> => {
    for (let i = 0; i < FINDS.unindexed && Date.now() < end; i++) others.push(await unindexed(client))
  }
  await Promise.all([quick(), slow()])
  return { indexed, unindexed: others }
}
