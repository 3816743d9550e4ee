/** `smalt events`: prints events of a running service, and goes on as they occur. */
import { isArray, member } from '../../base/json/json.ts'
import { type Client, createClient } from '../client/client.ts'
import type { ConnectionFlags } from '../client/connection.ts'
import { linesOf } from '../client/lines.ts'
import { print } from '../client/output.ts'
import type { Environment } from '../config/settings.ts'
import { EXIT, Exit } from '../exit.ts'
import { usageError } from '../usage-error.ts'
import { type DeadLetterFlags, runDeadLetters } from './dead-letters.ts'

interface EventsFlags extends ConnectionFlags, DeadLetterFlags {
  readonly entity?: string
  readonly hook?: string
  readonly operation?: string
  readonly since?: string
  readonly follow?: boolean
}

const SELECTION = ['entity', 'hook', 'operation'] as const
const OF_DEAD = ['sink', 'event', 'json'] as const
const PAGE = 1_000

export async function runEvents(
  [subject, ...rest]: readonly string[],
  flags: EventsFlags,
  environment: Environment,
): Promise<void> {
  if (subject === 'dead') {
    refuse(flags, [...SELECTION, 'since', 'follow'], 'events dead takes no')
    return await runDeadLetters(rest, flags, environment)
  }
  if (subject !== undefined)
    throw usageError('events takes no further words, or: dead list | show | redrive | discard', {
      word: subject,
      known: ['dead'],
    })
  refuse(flags, OF_DEAD, 'events without dead takes no')
  if (flags.since !== undefined && !/^\d{1,15}$/.test(flags.since))
    throw usageError('--since must be the number of an event, its "seq"')
  const client = createClient(flags, environment)
  if (flags.follow === true) await follow(client, flags)
  else await list(client, flags)
}

function refuse(flags: EventsFlags, names: readonly (keyof EventsFlags)[], problem: string): void {
  const stray = names.find((name) => flags[name] !== undefined)
  if (stray !== undefined) throw usageError(`${problem} --${stray}`)
}

function parametersOf(flags: EventsFlags): URLSearchParams {
  const parameters = new URLSearchParams()
  for (const name of SELECTION) {
    const value = flags[name]
    if (value !== undefined) parameters.set(name, value)
  }
  return parameters
}

/** All events from a number on, or from the oldest one on, page by page, one per line. */
async function list(client: Client, flags: EventsFlags): Promise<void> {
  const parameters = parametersOf(flags)
  parameters.set('limit', String(PAGE))
  for (let { since } = flags; ;) {
    if (since !== undefined) parameters.set('since', since)
    const page = await client.ask('GET', `/events?${parameters.toString()}`)
    const events = member(page, 'events')
    if (!isArray(events)) return
    for (const event of events) await print(`${JSON.stringify(event)}\n`)
    const next = JSON.stringify(member(page, 'next'))
    // a page scans a few thousand numbers, which may all belong to other entities; one that scanned fewer is the last
    if (events.length === 0 && Number(next) - Number(since) < PAGE) return
    since = next
  }
}

/** Connects again after the last event when the service ends the stream, as it does after an hour or a restart. */
async function follow(client: Client, flags: EventsFlags): Promise<void> {
  const parameters = parametersOf(flags)
  if (flags.since !== undefined) parameters.set('since', flags.since)
  const ending = new AbortController()
  const onSignal = (): void => ending.abort()
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal)
  let last: string | undefined
  for (let failures = 0; !ending.signal.aborted;) {
    try {
      const headers = last === undefined ? {} : { 'last-event-id': last }
      const sending = { headers, signal: ending.signal, isEndless: true }
      const response = await client.open('GET', `/events/stream?${parameters.toString()}`, sending)
      failures = 0
      for await (const event of eventsIn(client.base, response)) {
        if (event.id !== undefined) last = event.id
        if (event.data !== '') await print(`${event.data}\n`)
      }
    } catch (error) {
      if (ending.signal.aborted) break
      // before the first connection there is nothing to go on from, and a refusal stays one
      if (!(error instanceof Exit) || error.code !== EXIT.unreachable || last === undefined || ++failures > 5)
        throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 200 * 2 ** failures))
  }
  process.exitCode = EXIT.interrupted
}

interface ServerSentEvent {
  readonly id: string | undefined
  readonly data: string
}

async function* eventsIn(base: string, response: Response): AsyncGenerator<ServerSentEvent> {
  let id: string | undefined
  let data: string[] = []
  let type = 'message'
  for await (const line of linesOf(base, response)) {
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line.replace(/\r$/, '')) ?? []
    if (line === '' || line === '\r') {
      if (type === 'message' || id !== undefined)
        yield { id, data: type === 'message' ? data.join('\n') : '' }
      data = []
      type = 'message'
      id = undefined
    } else if (name === 'id') id = value
    else if (name === 'data') data.push(value)
    else if (name === 'event') type = value
  }
}
