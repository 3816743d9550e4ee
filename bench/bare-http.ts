/** Node's own HTTP server, with nothing around it. */
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Answers questions about health itself, and prints the address as Smalt does. */
export function listen(respond: (request: IncomingMessage, response: ServerResponse) => void): void {
  const server = createServer((request, response) => {
    if (request.url === '/health') send(response, '{"status":"up"}')
    else respond(request, response)
  })
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo
    process.stdout.write(`{"api":"http://127.0.0.1:${port}"}\n`)
  })
  process.on('SIGTERM', () => process.exit())
}

export function read(request: IncomingMessage, take: (text: string) => void): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => take((chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString()))
}

export function send(response: ServerResponse, text: string): void {
  const length = Buffer.byteLength(text)
  response.writeHead(200, ['Content-Type', 'application/json', 'Content-Length', String(length)])
  response.end(text, length === text.length ? 'latin1' : 'utf8')
}

export function sendLater(response: ServerResponse, text: Promise<string>): void {
  text.then(
    (settled) => send(response, settled),
    (error: unknown) => {
      process.stderr.write(`the limit failed: ${String(error)}\n`)
      response.writeHead(500, ['Content-Length', '0']).end()
    },
  )
}
