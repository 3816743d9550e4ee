/** Servers that tests start: each has a guard, so that it goes with the tests however these end. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

export interface Guarded {
  readonly server: ChildProcess
  readonly guard: ChildProcess
}

/** Its input ends when this process does, however that happens; then server and data go. A line calls it off. */
export function guarded(
  server: ChildProcess,
  { directory, signal }: { readonly directory: string; readonly signal: 'KILL' | 'QUIT' },
): Guarded {
  const script =
    'trap "" INT TERM HUP; read -r line && exit; ' +
    'kill "-$2" "$0"; while kill -0 "$0"; do sleep 0.1; done; rm -rf "$1"'
  const guard = spawn('/bin/sh', ['-c', script, String(server.pid ?? 0), directory, signal], {
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.on('error', () => undefined)
  guard.stdin.on('error', () => undefined)
  guard.unref()
  return { server, guard }
}

/** Comes back when the server is gone, with all the processes that hold a pipe of it. */
export async function endServer({ server, guard }: Guarded, signal: NodeJS.Signals): Promise<void> {
  if (server.pid !== undefined && !isOver(server)) {
    server.ref()
    const over = once(server, 'close')
    server.kill(signal)
    await over
  }
  guard.stdin?.end('done\n')
}

export function isOver({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
