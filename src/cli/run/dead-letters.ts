/** `smalt events dead`: lists, redrives or discards the dead letters of a sink through a running service. */
import { createClient } from '../client/client.ts'
import type { ConnectionFlags } from '../client/connection.ts'
import type { Environment } from '../config/settings.ts'
import { usageError } from '../usage-error.ts'

export interface DeadLetterFlags extends ConnectionFlags {
  readonly sink?: string
  readonly event?: string
  readonly json?: boolean
}

const ACTIONS = ['list', 'show', 'redrive', 'discard'] as const
const PAGE = 1_000

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

export async function runDeadLetters(
  [action = '', ...rest]: readonly string[],
  flags: DeadLetterFlags,
  environment: Environment,
): Promise<void> {
  const known = ACTIONS.find((each) => each === action)
  if (!known || rest.length > 0) {
    const problem = `events dead takes ${ACTIONS.join(', ')}`
    throw usageError(problem, { word: action, known: ACTIONS })
  }
  const { sink = '', event } = flags
  if (sink === '') throw usageError(`events dead ${known} needs --sink`)
  const needsEvent = known === 'show' || known === 'discard'
  if (needsEvent && (event === undefined || event === ''))
    throw usageError(`events dead ${known} needs --event`)
  if (known === 'list' && event !== undefined) throw usageError('events dead list takes no --event')
  const { ask } = createClient(flags, environment)
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
