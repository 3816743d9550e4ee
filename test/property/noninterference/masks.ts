/**
 * Answers with everything covered that differs between two runs by nature: the name of the entity, identifiers made by
 * chance, the numbers of document versions and of events, times, and which plan PostgreSQL chose. Each gets the number of
 * its first appearance, so that the same again and something new still look different.
 */
import { citusUrl } from '../../support/citus.ts'
import { ENTITY } from './world.ts'

export interface Mask {
  readonly cover: (text: string) => string
  /** Document versions in the order of their first appearance. */
  readonly versions: readonly string[]
  /** Numbers of events in the order of their first appearance. */
  readonly events: readonly string[]
}

export function createMask(entity: string, { hidesPlans }: { readonly hidesPlans: boolean }): Mask {
  const numbers = new Map<string, number>()
  const versions: string[] = []
  const events: string[] = []
  const numberOf = (text: string): number => {
    const number = numbers.get(text) ?? numbers.size
    numbers.set(text, number)
    return number
  }
  const cover = (text: string): string =>
    withoutOrder(hidesPlans ? withoutPlans(text) : text)
      .replaceAll(entity, ENTITY)
      .replaceAll(UUID, (uuid) => `@U${numberOf(uuid)}`)
      .replaceAll(DOCUMENT_VERSION, (version, name: string, number: string) => {
        if (!versions.includes(version)) versions.push(version)
        // where names are out of sight a document is known by a mark
        const document = MARK.test(name) ? `@M${numberOf(name)}` : name
        return `${document}:@N${numberOf(number)}`
      })
      .replaceAll(CURSOR, (_, name: string, cursor: string) => `"${name}":"@C${cursor.length}"`)
      .replaceAll(TICKET, '"@K"')
      .replaceAll(DURATION, '"executionTimeMillis":0')
      .replaceAll(MOMENT, '@T')
      .replaceAll(EVENT, (_, number: string) => {
        if (!events.includes(number)) events.push(number)
        return `,"seq":@S${events.indexOf(number)}`
      })
      .replaceAll(NEXT_EVENT, '"next":0}')
  return { cover, versions, events }
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const DOCUMENT_VERSION = /(?<=")([\w@-]+):(\d{16})(?=\\?")/g
const MARK = /^[\w-]{22}$/
/** Dates of versions, and what explanations say of them. */
const MOMENT = /\d{4}-\d\d-\d\dT[\d:]{8}\.\d{6}Z|(?<=[[,]"?)1[78]\d{14}(?="?[,\]])/g
/** Encrypted with chance: only the length may tell something. */
const CURSOR = /"(next|after)":"([\w-]{40,})"/g
/** Encrypted anew each time. */
const TICKET = /"t1\.[\w-]+"/g
const DURATION = /"executionTimeMillis":\d+/g
/** Rises with every event of everybody, which the documentation argues. */
const EVENT = /,"seq":(\d+)(?=,"hook":"h\d","entity":"@E@")/g
const NEXT_EVENT = /"next":\d+\}/g
const PLAN = '"winningPlan":'

/**
 * PostgreSQL chooses by the size of its pages and by samples of the values in them, of those that are secret, too: see
 * the documentation.
 */
function withoutPlans(text: string): string {
  const start = text.indexOf(PLAN)
  if (start < 0) return text
  const end = endOfObject(text, start + PLAN.length)
  return `${text.slice(0, start)}"plan":0${withoutPlans(text.slice(end))}`
}

const EVENTS = /^\{"events":\[(.*)\](?=,"next":\d+\}$)/s
const BETWEEN_EVENTS = /(?<=\}),(?=\{"id":"[\w-]{36}","seq":\d+,)/
const OWN_OF_EVENT = /^\{"id":"[\w-]{36}","seq":\d+,/

/** On a cluster there is no snapshot of all nodes, so that events of different documents may be numbered in any order. */
function withoutOrder(text: string): string {
  if (citusUrl() === undefined) return text
  return text.replace(EVENTS, (_, events: string) => {
    const byContent = events
      .split(BETWEEN_EVENTS)
      .map((event) => [event.replace(OWN_OF_EVENT, ''), event] as const)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
    return `{"events":[${byContent.map(([, event]) => event).join(',')}]`
  })
}

function endOfObject(text: string, start: number): number {
  let depth = 0
  for (const { 0: token, index } of text.slice(start).matchAll(/"(?:[^"\\]|\\.)*"|[{}]/gs)) {
    if (token === '{') depth++
    if (token === '}' && --depth === 0) return start + index + 1
  }
  return text.length
}
