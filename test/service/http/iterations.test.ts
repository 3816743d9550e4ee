/** Requests are spread over iterations of the event loop, so that new connections are accepted while it is busy. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type IncomingMessage, type ServerResponse, request } from 'node:http'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { spreadOverIterations } from '../../../src/http/iterations.ts'

const CLIENTS = 32

test('iterations: requests start in the order of arrival, whatever the iteration', async () => {
  const started: number[] = []
  const numbered = (n: number): IncomingMessage => ({ n }) as unknown as IncomingMessage
  const { receive } = spreadOverIterations((each) => {
    const { n } = each as unknown as { readonly n: number }
    started.push(n)
    const end = performance.now() + (n % 3)
    while (performance.now() < end);
  })
  for (let iteration = 0; iteration < 20; iteration++) {
    for (let i = 0; i < 10; i++) receive(numbered(iteration * 10 + i), {} as ServerResponse)
    await new Promise(setImmediate)
  }
  while (started.length < 200) await new Promise(setImmediate)
  assert.deepEqual(
    started,
    Array.from({ length: 200 }, (_, n) => n),
  )
})

test('iterations: new clients are served while others keep the loop busy', async (t) => {
  const worker = new Worker(new URL('./iterations-server.ts', import.meta.url))
  try {
    const [port] = (await once(worker, 'message')) as [number]
    let isOver = false
    const served: number[] = []
    const ask = (agent: Agent): Promise<void> =>
      new Promise((resolve, reject) => {
        request({ port, host: '127.0.0.1', agent }, (response) => response.resume().once('end', resolve))
          .once('error', reject)
          .end()
      })
    const client = async (no: number): Promise<void> => {
      served[no] = 0
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      for (;;) {
        await ask(agent)
        served[no]++
        if (isOver) break
      }
      agent.destroy()
    }
    const first = Array.from({ length: CLIENTS }, (_, no) => client(no))
    while (Math.min(...served) < 3) await new Promise((resolve) => setTimeout(resolve, 10))
    const before = served.slice()
    const second = Array.from({ length: CLIENTS }, (_, no) => client(CLIENTS + no))
    while (Math.min(...served) < 1) await new Promise((resolve) => setTimeout(resolve, 1))
    const meanwhile = Math.max(...before.map((count, no) => served[no]! - count))
    isOver = true
    await Promise.all([...first, ...second])
    t.diagnostic(`requests of a connected client before the last new one was served: ${meanwhile}`)
    // One accepted connection per iteration of 32 requests would make it more than 32.
    assert.ok(meanwhile <= CLIENTS / 2, String(meanwhile))
  } finally {
    await worker.terminate()
  }
})
