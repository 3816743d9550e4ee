/** The real process for the commands of a page, on a free port. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { PROGRAM } from '../../support/program.ts'

/** The address in the pages. */
export const ADDRESS = 'http://127.0.0.1:8080'

export async function startedServer(
  directory: string,
): Promise<{ readonly address: string } & AsyncDisposable> {
  const args = [PROGRAM, '--port', '0', '--data', directory]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  return {
    address: await addressOf(child),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const { msg, api } = JSON.parse(line) as { readonly msg?: string; readonly api?: string }
    if (msg !== 'listening') continue
    child.stdout!.resume()
    return api!
  }
  throw new Error('the server ended before it listened')
}
