/** Servers on this machine that receive, or fail to. */
import { once } from 'node:events'
import { type RequestListener, createServer as createHttpServer } from 'node:http'
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net'

export const SECRET = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`

export interface Listening extends AsyncDisposable {
  readonly port: number
  readonly url: string
  readonly connections: () => number
}

export async function listening(server: Server): Promise<Listening> {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}/hook`,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

export function answering(listener: RequestListener): Promise<Listening> {
  return listening(createHttpServer(listener))
}

/** Says whatever it likes to whoever connects. */
export function speaking(onData: (socket: Socket) => void): Promise<Listening> {
  return listening(createServer((socket) => socket.on('data', () => onData(socket))))
}
