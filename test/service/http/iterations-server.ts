/** A server in a thread of its own, whose requests each keep it busy for a while. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parentPort } from 'node:worker_threads'
import { spreadOverIterations } from '../../../src/http/iterations.ts'

const BUSY_MS = 3

const { receive, connected } = spreadOverIterations((_request, response) => {
  const end = performance.now() + BUSY_MS
  while (performance.now() < end);
  response.end('done')
})
const server = createServer(receive).on('connection', connected)
server.listen(0, '127.0.0.1', () => parentPort!.postMessage((server.address() as AddressInfo).port))
