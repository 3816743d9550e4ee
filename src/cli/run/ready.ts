/** `smalt ready`: asks the service of this configuration, on this machine, whether it is ready. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { httpModule } from '../../base/http-module.ts'
import type { Config, TlsFiles } from '../config/config.ts'
import { ConfigError } from '../config/config-error.ts'
import { EXIT, Exit } from '../exit.ts'

/** Shorter than the time limits of health checks, so that they get a reason. */
const WAIT_MS = 2_500

export async function runReady({ host, port, tls }: Pick<Config, 'host' | 'port' | 'tls'>): Promise<void> {
  if (port === 0)
    throw new ConfigError('ready needs the port of the service; with port 0 it picks one itself')
  const base = `${tls ? 'https' : 'http'}://${reachable(host)}:${port}`
  const { status, text } = await ask(`${base}/ready`, tls).catch((error: unknown) => {
    const { code, message, name } = error as NodeJS.ErrnoException
    const reason = name === 'AbortError' ? `nothing arrived within ${WAIT_MS} ms` : (code ?? message)
    throw new Exit(EXIT.unreachable, `no service answers at ${base}: ${reason}`)
  })
  if (status !== 200) throw new Exit(EXIT.unreachable, `the service at ${base} is not ready: ${text.trim()}`)
  process.stdout.write('ready\n')
}

/** A service that listens on all addresses is asked on the loopback interface. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

async function ask(url: string, tls: TlsFiles | undefined): Promise<{ status: number; text: string }> {
  const signal = AbortSignal.timeout(WAIT_MS)
  // the certificate is for the names by which clients reach the service, and nothing secret is sent
  const sent = tls
    ? httpModule('https:').request(url, { signal, rejectUnauthorized: false })
    : httpModule('http:').request(url, { signal })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk as string
  return { status: response.statusCode!, text }
}
