/** `smalt events dead`: lists, redrives or discards the dead letters of a sink through a running service. */
import type { Environment } from '../config/settings.ts'
import { EXIT, Exit } from '../exit.ts'
import { usageError } from '../usage-error.ts'

export interface EventsFlags {
  readonly sink?: string
  readonly event?: string
  readonly url?: string
  readonly token?: string
  readonly json?: boolean
}

const ACTIONS = ['list', 'show', 'redrive', 'discard'] as const
const ADDRESS = 'http://127.0.0.1:8080'
const PAGE = 1_000
const PATIENCE_MS = 60_000

interface Letter {
  readonly id: string
  readonly seq: number
  readonly entity: string
  readonly hook: string
  readonly operation: string
  readonly date: string
  readonly attempts: number
  readonly error: string
  readonly held: number
}

export async function runEvents(
  [subject = '', action = '', ...rest]: readonly string[],
  flags: EventsFlags,
  environment: Environment,
): Promise<void> {
  const known = ACTIONS.find((each) => each === action)
  if (subject !== 'dead' || !known || rest.length > 0) {
    const problem = `events takes dead, and then ${ACTIONS.join(', ')}`
    throw usageError(problem, { word: action, known: ACTIONS })
  }
  const { sink = '', event } = flags
  if (sink === '') throw usageError(`events dead ${known} needs --sink`)
  const needsEvent = known === 'show' || known === 'discard'
  if (needsEvent && (event === undefined || event === ''))
    throw usageError(`events dead ${known} needs --event`)
  if (known === 'list' && event !== undefined) throw usageError('events dead list takes no --event')
  const ask = asking(flags, environment)
  const letters = `/events/sinks/${encodeURIComponent(sink)}/dead`
  const letter = `${letters}/${encodeURIComponent(event ?? '')}`
  switch (known) {
    case 'list':
      return list(await everyLetter(ask, letters), flags.json === true)
    case 'show':
      return print(await ask('GET', letter))
    case 'redrive': {
      const path = event === undefined ? `${letters}/redrive` : letter
      const { redriven } = (await ask('POST', path)) as { readonly redriven: number }
      process.stderr.write(`${redriven} dead letter${redriven === 1 ? '' : 's'} of ${sink} tried again\n`)
      return
    }
    case 'discard':
      await ask('DELETE', letter)
      process.stderr.write(`discarded the dead letter ${event} of ${sink}\n`)
  }
}

type Asking = (method: string, path: string) => Promise<unknown>

async function everyLetter(ask: Asking, letters: string): Promise<readonly Letter[]> {
  const all: Letter[] = []
  for (let since = 0; ;) {
    const page = (await ask('GET', `${letters}?limit=${PAGE}&since=${since}`)) as {
      readonly dead: readonly Letter[]
      readonly next: number
    }
    all.push(...page.dead)
    since = page.next
    if (page.dead.length < PAGE) return all
  }
}

function list(letters: readonly Letter[], isJson: boolean): void {
  if (isJson) return print(letters)
  if (letters.length === 0) process.stderr.write('there are no dead letters\n')
  for (const { id, entity, hook, operation, date, attempts, error, held } of letters) {
    const waiting = held === 0 ? '' : `  ${held} waiting behind it`
    process.stdout.write(
      `${id}  ${date}  ${entity}/${hook} ${operation}  ${attempts} attempts: ${error}${waiting}\n`,
    )
  }
}

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`)
}

function asking({ url = ADDRESS, token }: EventsFlags, environment: Environment): Asking {
  const base = baseFrom(url)
  const credentials = token ?? environment['SMALT_TOKEN']
  const headers: Record<string, string> = credentials ? { authorization: `Bearer ${credentials}` } : {}
  return async (method, path) => {
    const request = { method, headers, redirect: 'error', signal: AbortSignal.timeout(PATIENCE_MS) } as const
    let status
    let text
    try {
      const answer = await fetch(`${base}${path}`, request)
      status = answer.status
      text = await answer.text()
    } catch (error) {
      throw new Exit(EXIT.unreachable, `no service answers at ${base}: ${reasonOf(error)}`)
    }
    return answered(base, status, text)
  }
}

function baseFrom(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username !== '' || parsed.password !== '')
    throw usageError('--url must be an http or https address, without a password')
  return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error
  const { code } = (cause ?? {}) as NodeJS.ErrnoException
  return code ?? message
}

function answered(base: string, status: number, text: string): unknown {
  const value = parsed(text)
  if (value === undefined) throw new Exit(EXIT.failed, `what answers at ${base} is no Smalt service`)
  if (status === 200) return value
  const { errorCode = '', msg = '' } = value as { readonly errorCode?: string; readonly msg?: string }
  throw new Exit(exitFor(status), `${msg} (${errorCode || `status ${status}`})`)
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function exitFor(status: number): number {
  if (status === 401 || status === 403) return EXIT.denied
  if (status === 503) return EXIT.unreachable
  return status === 409 ? EXIT.conflict : EXIT.failed
}
